import { afterAll, expect, test } from 'bun:test'
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import type { FailureCode } from '@backlot/contract/failure'
import { checkDisk, createDisk, createOverlay, diskInfo, QmpClient, resizeDisk } from '@backlot/native'
import { bareHypervisor, qemu, qemuCheck, Scratch } from '../support/qemu.ts'

const scratch = new Scratch()
afterAll(() => scratch[Symbol.dispose]())

const MiB = 1 << 20
const GiB = 1 << 30

/** Expects that a promise is rejected with this code, and that the text names the thing. */
const refuses = async (code: FailureCode, promise: Promise<unknown>, named: string): Promise<void> => {
  const error = await promise.then(
    () => ({ code: 'fulfilled', message: '' }),
    (error: { code: string; message: string }) => error,
  )
  expect({ code: error.code, names: error.message.includes(named) ? named : error.message }).toEqual({
    code,
    names: named,
  })
}

test('a new disk is what QEMU takes for an empty one, from one sector to eight tebibytes', async () => {
  for (const size of [512, MiB, GiB, 3 * GiB + 512, 4096 * GiB, 8192 * GiB]) {
    const path = scratch.at(`new-${size}.qcow2`)
    await createDisk(path, size)
    const seen = JSON.parse(qemu(['qemu-img', 'info', '--output=json', path]))
    expect(seen).toMatchObject({ format: 'qcow2', 'virtual-size': size, 'cluster-size': 65536 })
    expect(qemuCheck(path)).toEqual({ corruptions: 0, leaks: 0 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(seen['actual-size']).toBeLessThan(MiB / 4)
  }
})

test('an overlay shows the disk below it until it is written to, and grows', async () => {
  const base = scratch.at('base.qcow2')
  const top = scratch.at('top.qcow2')
  await createDisk(base, 64 * MiB)
  qemu(['qemu-io', '-c', 'write -P 7 1M 3M', base])
  await createOverlay(top, { backing: 'base.qcow2', backing_format: 'qcow2' })
  qemu(['qemu-img', 'compare', base, top])
  qemu(['qemu-io', '-c', 'write -P 9 2M 64k', top])
  await resizeDisk(top, 700 * MiB)
  qemu(['qemu-io', '-c', 'read -P 7 1M 1M', '-c', 'read -P 9 2M 64k', '-c', 'read -P 0 64M 600M', top])
  expect(qemuCheck(top)).toEqual({ corruptions: 0, leaks: 0 })
  const info = await diskInfo(top)
  expect(info.disk).toMatchObject({ format: 'qcow2', virtual_size: 700 * MiB, is_dirty: false })
  expect(info.disk.backing).toEqual({ name: 'base.qcow2', path: base, format: 'qcow2' })
  expect(info.chain.map(({ path, virtual_size }) => ({ path, virtual_size }))).toEqual([
    { path: base, virtual_size: 64 * MiB },
  ])
  expect(await checkDisk(top)).toMatchObject({ corruptions: 0, leaks: 0, allocated_clusters: 1, findings: [] })
})

test('an overlay on a raw file has whole sectors, and a raw file grows', async () => {
  const raw = scratch.at('disk.raw')
  writeFileSync(raw, Buffer.alloc(1000, 'x'))
  const top = scratch.at('on-raw.qcow2')
  await createOverlay(top, { backing: raw, backing_format: 'raw' })
  expect((await diskInfo(top)).disk.virtual_size).toBe(1024)
  qemu(['qemu-img', 'compare', '-F', 'qcow2', '-f', 'raw', raw, top])
  await resizeDisk(raw, 2 * MiB)
  expect(statSync(raw).size).toBe(2 * MiB)
})

test('a backing disk whose name looks like a protocol is a file all the same', async () => {
  await createDisk(scratch.at('nbd:disk'), MiB)
  await createOverlay(scratch.at('over.qcow2'), { backing: 'nbd:disk', backing_format: 'qcow2' })
  qemu(['qemu-img', 'compare', `file:${scratch.at('nbd:disk')}`, scratch.at('over.qcow2')])
})

test('what is wrong with a disk has a name, and leaves no file behind', async () => {
  const disk = scratch.at('wrong.qcow2')
  await createDisk(disk, MiB)
  const before = readdirSync(scratch.folder)
  await refuses('disk_exists', createDisk(disk, MiB), disk)
  await refuses('disk_not_written', createDisk('/proc/disk.qcow2', MiB), '/proc/disk.qcow2')
  await refuses('invalid_argument', createDisk(scratch.at('x'), 513), '513')
  await refuses('invalid_argument', createDisk(scratch.at('x'), -1), '-1')
  await refuses('invalid_argument', createDisk(scratch.at('x'), 2 ** 52), 'at most')
  await refuses('disk_not_found', diskInfo(scratch.at('none')), 'none')
  await refuses('disk_not_found', resizeDisk(scratch.at('none'), MiB), 'none')
  await refuses('disk_unreadable', diskInfo(scratch.folder), scratch.folder)
  await refuses('disk_unreadable', diskInfo('/dev/null'), '/dev/null')
  await refuses('disk_not_shrunk', resizeDisk(disk, MiB / 2), disk)
  const small = { backing: disk, backing_format: 'qcow2', size_bytes: 512 } as const
  await refuses('disk_not_shrunk', createOverlay(scratch.at('x'), small), 'x')
  await refuses('disk_not_found', createOverlay(scratch.at('x'), { backing: 'none', backing_format: 'raw' }), 'none')
  expect(readdirSync(scratch.folder)).toEqual(before)
  expect(existsSync(scratch.at('x'))).toBe(false)
})

test('a damaged disk is told from one that is not supported', async () => {
  const damaged = scratch.at('damaged.qcow2')
  await createDisk(damaged, MiB)
  const file = openSync(damaged, 'r+')
  writeSync(file, Buffer.from([0, 0, 0, 99]), 0, 4, 4)
  closeSync(file)
  await refuses('disk_corrupt', diskInfo(damaged), damaged)

  const dirty = scratch.at('dirty.qcow2')
  await createDisk(dirty, MiB)
  const marked = openSync(dirty, 'r+')
  writeSync(marked, Buffer.from([1]), 0, 1, 79)
  closeSync(marked)
  expect((await diskInfo(dirty)).disk.is_dirty).toBe(true)
  await refuses('disk_corrupt', resizeDisk(dirty, 2 * MiB), dirty)

  const elsewhere = scratch.at('elsewhere.qcow2')
  qemu(['qemu-img', 'create', '-q', '-f', 'qcow2', '-o', `data_file=${scratch.at('data.raw')}`, elsewhere, '1M'])
  expect((await diskInfo(elsewhere)).disk.has_data_file).toBe(true)
  await refuses('disk_unsupported', resizeDisk(elsewhere, 2 * MiB), elsewhere)
  await refuses('disk_unsupported', checkDisk(elsewhere), elsewhere)

  const ring = scratch.at('ring.qcow2')
  await createDisk(scratch.at('link.qcow2'), MiB)
  await createOverlay(ring, { backing: 'link.qcow2', backing_format: 'qcow2' })
  qemu(['qemu-img', 'rebase', '-u', '-F', 'qcow2', '-b', 'ring.qcow2', scratch.at('link.qcow2')])
  await refuses('disk_corrupt', diskInfo(ring), 'on itself')
})

test('zeros that take no room are told from nothing', async () => {
  const top = scratch.at('zeros.qcow2')
  await createDisk(scratch.at('ones.qcow2'), 8 * MiB)
  qemu(['qemu-io', '-c', 'write -P 1 0 8M', scratch.at('ones.qcow2')])
  await createOverlay(top, { backing: 'ones.qcow2', backing_format: 'qcow2' })
  expect(await checkDisk(top)).toMatchObject({ allocated_clusters: 0, own_clusters: 0 })
  qemu(['qemu-io', '-c', 'write -z -u 1M 1M', top])
  expect(await checkDisk(top)).toMatchObject({ allocated_clusters: 0, own_clusters: 16 })
})

test('a chain has 200 disks under its top and no more', async () => {
  await createDisk(scratch.at('layer-0.qcow2'), MiB)
  for (let at = 1; at <= 200; at++) {
    await createOverlay(scratch.at(`layer-${at}.qcow2`), { backing: `layer-${at - 1}.qcow2`, backing_format: 'qcow2' })
  }
  const top = scratch.at('layer-200.qcow2')
  expect((await diskInfo(top)).chain).toHaveLength(200)
  qemu(['qemu-io', '-c', 'read -P 0 0 1M', top])
  const more = createOverlay(scratch.at('layer-201.qcow2'), { backing: top, backing_format: 'qcow2' })
  await refuses('disk_unsupported', more, 'more than 200 disks')
})

test('damage is found where QEMU finds it', async () => {
  const path = scratch.at('leaking.qcow2')
  await createDisk(path, 64 * MiB)
  qemu(['qemu-io', '-c', 'write -P 1 0 1M', path])
  const file = openSync(path, 'r+')
  // One refcount of a data cluster too low, one of nothing too high.
  writeSync(file, Buffer.from([0, 0]), 0, 2, 2 * 65536 + 2 * 6)
  writeSync(file, Buffer.from([0, 1]), 0, 2, 2 * 65536 + 2 * 100)
  ftruncateSync(file, 101 * 65536)
  closeSync(file)
  const seen = qemuCheck(path)
  const { corruptions, leaks, findings } = await checkDisk(path)
  expect({ corruptions, leaks }).toEqual(seen)
  expect({ corruptions: corruptions > 0, leaks }).toEqual({ corruptions: true, leaks: 1 })
  expect(findings.length).toBeGreaterThan(1)
})

test('a disk that a hypervisor has open is described and not changed', async () => {
  const path = scratch.at('open.qcow2')
  await createDisk(path, MiB)
  await using hypervisor = await bareHypervisor(scratch)
  const client = await QmpClient.connect(hypervisor.socket, 10_000)
  const node = { driver: 'qcow2', 'node-name': 'disk', file: { driver: 'file', filename: path } }
  await client.execute('blockdev-add', JSON.stringify(node), 10_000)
  expect((await diskInfo(path)).disk.virtual_size).toBe(MiB)
  await refuses('disk_in_use', resizeDisk(path, 2 * MiB), path)
  await client.execute('blockdev-del', JSON.stringify({ 'node-name': 'disk' }), 10_000)
  await resizeDisk(path, 2 * MiB)
  client.close()
  expect((await diskInfo(path)).disk.virtual_size).toBe(2 * MiB)
})

test('a disk that may not be written is not changed', async () => {
  const path = '/proc/version'
  chmodSync(scratch.folder, 0o700)
  await refuses('disk_not_written', resizeDisk(path, MiB), path)
})
