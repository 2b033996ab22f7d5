import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../support/until.ts'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
import { call, checkDisk, create, get, giveImage, image, names, run, small } from '../../support/vms.ts'

let host: VmHost
let folder: string

beforeAll(async () => {
  host = await startVmHost()
  folder = mkdtempSync(join(tmpdir(), 'backlot-full-'))
  // The file is in a mount namespace that ends with the test.
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=4m', 'small', folder])
  expect(exitCode).toBe(0)
  mkdirSync(join(folder, 'vms'))
  await call(host, 'POST', '/svc/config/locations', { name: 'small', path: join(folder, 'vms') })
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  Bun.spawnSync(['umount', folder])
  rmSync(folder, { recursive: true, force: true })
})

const fill = () => writeFileSync(join(folder, 'ballast'), Buffer.alloc(8 * 2 ** 20), { flag: 'w' })

test('a full disk is a failure with its own code, and loses nothing', async () => {
  const disk = join(host.home, 'disk.raw')
  writeFileSync(disk, Buffer.alloc(16 * 2 ** 20, 7))
  const refused = await call(host, 'POST', '/svc/vms', { ...small, name: 'large', image: disk, storage: 'small' })
  expect([refused[0], refused[1].code]).toEqual([400, 'disk_full'])
  expect(readdirSync(join(folder, 'vms'))).toEqual([])

  await create(host, 'kept', { storage: 'small' })
  const before = await get(host, 'kept')
  expect(() => fill()).toThrow('ENOSPC')
  for (const [method, path, body] of [
    ['POST', '/svc/vms', { ...small, name: 'next', storage: 'small' }],
    ['POST', '/svc/vms/clone', { name: 'kept', newName: 'next' }],
    ['PATCH', '/svc/vms/kept', { cpu: 2 }],
  ] as const) {
    expect([path, (await call(host, method, path, body))[1].code]).toEqual([path, 'disk_full'])
  }
  expect(await names(host, '?storage=small')).toEqual(['kept'])
  expect(readdirSync(join(folder, 'vms')).filter((name) => name !== '.bases')).toEqual(['kept'])
  expect({ ...(await get(host, 'kept')), operationId: null, lastError: null }).toEqual({
    ...before,
    operationId: null,
    lastError: null,
  })
  expect(checkDisk(join(folder, 'vms/kept'))).toBe(0)
  rmSync(join(folder, 'ballast'))
  expect((await call(host, 'PATCH', '/svc/vms/kept', { cpu: 2 }))[0]).toBe(200)
  expect((await call(host, 'POST', '/svc/vms/clone', { name: 'kept', newName: 'next' }))[0]).toBe(200)
})

test('a guest whose disk has no room to grow stands still, and goes on when there is', async () => {
  const large = join(folder, 'large')
  mkdirSync(large)
  expect(Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=192m', 'large', large]).exitCode).toBe(0)
  await giveImage(host)
  await call(host, 'POST', '/svc/config/locations', { name: 'large', path: join(large, 'vms') })
  writeFileSync(join(large, 'ballast'), Buffer.alloc(96 * 2 ** 20))
  const script = '#!/bin/sh\ndd if=/dev/zero of=/filler bs=1M count=96 && sync\necho done >/mnt/shared/out/done\n'
  await create(host, 'greedy', { image, storage: 'large', userData: script, network: 'none' })
  const output = join(host.home, 'out')
  mkdirSync(output)
  await run(host, 'greedy', { noDisplay: true, sharedDirectories: [{ hostPath: output }] })
  await until('it to stand still', async () => (await get(host, 'greedy')).lastError?.includes('no room'), 120_000)
  expect((await get(host, 'greedy')).status).toBe('running')
  rmSync(join(large, 'ballast'))
  await until('it to go on', async () => (await get(host, 'greedy')).lastError === null)
  await until('what it wrote to be whole', () => readdirSync(output).includes('done'), 120_000)
  expect((await call(host, 'POST', '/svc/vms/greedy/stop'))[0]).toBe(200)
  expect(checkDisk(join(large, 'vms/greedy'))).toBe(0)
  Bun.spawnSync(['umount', large])
}, 400_000)
