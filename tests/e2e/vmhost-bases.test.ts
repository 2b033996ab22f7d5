/** Bases: none goes while a disk may lie on it, and what is wrong with one VM fails nothing that is done with another. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../support/scratch.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, checkDisk, create, get } from '../support/vms.ts'

let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
})

afterAll(() => host[Symbol.asyncDispose]())

const folder = (name: string) => join(host.home, 'data/vms', name)
const disk = (name: string) => join(folder(name), 'disk.qcow2')
const bases = () => (existsSync(folder('.bases')) ? readdirSync(folder('.bases')) : [])

const clone = async (name: string, newName: string) =>
  expect((await call(host, 'POST', '/svc/vms/clone', { name, newName }))[0]).toBe(200)

const remove = async (...names: string[]) => {
  for (const name of names) expect([name, (await call(host, 'DELETE', `/svc/vms/${name}`))[0]]).toEqual([name, 200])
}

/** Makes a VM and a clone of it, and damages the magic number of the clone's disk; gives back what it was. */
const damagedClone = async (source: string, copy: string): Promise<Buffer> => {
  await create(host, source)
  await clone(source, copy)
  const whole = readFileSync(disk(copy))
  writeFileSync(disk(copy), Buffer.concat([Buffer.alloc(4), whole.subarray(4)]))
  return whole
}

test('a disk that is damaged keeps the base that it lies on', async () => {
  const whole = await damagedClone('source', 'damaged')
  await remove('source')
  expect(bases()).toHaveLength(1)
  writeFileSync(disk('damaged'), whole)
  expect(checkDisk(folder('damaged'))).toBe(0)
  await remove('damaged')
  expect(existsSync(folder('.bases'))).toBe(false)
})

test('a disk on a drive that is not there now keeps the base that it lies on', async () => {
  const drive = scratchFolder('drive')
  await create(host, 'source')
  await clone('source', 'linked')
  mkdirSync(join(drive, 'vms'))
  renameSync(disk('linked'), join(drive, 'vms/disk.qcow2'))
  symlinkSync(join(drive, 'vms/disk.qcow2'), disk('linked'))
  renameSync(join(drive, 'vms'), join(drive, 'away'))
  await remove('source')
  expect(bases()).toHaveLength(1)
  await remove('linked')
})

test('a move succeeds beside a VM whose disk is damaged', async () => {
  await damagedClone('mover', 'neighbour')
  const elsewhere = scratchFolder('elsewhere')
  expect((await call(host, 'POST', '/svc/config/locations', { name: 'nas', path: elsewhere }))[0]).toBe(200)
  const answer = await call(host, 'PATCH', '/svc/vms/mover', { storage: 'nas' })
  expect(answer).toEqual([200, { message: 'Virtual machine updated: mover' }])
  expect((await get(host, 'mover')).locationName).toBe('nas')
  expect(bases()).toHaveLength(1)
  await remove('neighbour', 'mover')
  expect((await call(host, 'DELETE', '/svc/config/locations/nas'))[0]).toBe(200)
})

test('the folder of bases outlives a power cut before a disk lies on one', async () => {
  await create(host, 'first')
  expect(existsSync(folder('.bases'))).toBe(false)
  const log = join(scratchFolder('calls'), 'log')
  const calls = 'trace=/mkdir,/rename,fsync,fdatasync'
  const words = ['-f', '-y', '-qqq', '-s', '300', '-e', calls, '-e', 'signal=none', '-o', log, '-p', String(host.pid)]
  const tracer = Bun.spawn(['strace', ...words], { stdout: 'ignore', stderr: 'ignore' })
  // Any of its threads may be the one that writes.
  const isTraced = (status: string) => /TracerPid:\t[1-9]/.test(readFileSync(status, 'utf8'))
  await until('every thread of the service to be traced', () =>
    readdirSync(`/proc/${host.pid}/task`).every((thread) => isTraced(`/proc/${host.pid}/task/${thread}/status`)),
  )
  await clone('first', 'second')
  tracer.kill('SIGINT')
  await tracer.exited
  const seen = readFileSync(log, 'utf8').split('\n')
  const vms = folder('').replace(/\/$/, '')
  const at = (what: RegExp) => seen.findIndex((line) => what.test(line))
  const made = at(/mkdir[a-z]*\(.*\/\.bases"/)
  // The overlay is made under another name, and renamed once before: only then it takes the place of the disk.
  const replaced = at(/rename[a-z0-9]*\(.*\.disk\.next", .*\/disk\.qcow2"/)
  const synced = seen.findIndex(
    (line, index) => index > made && /f(?:data)?sync\(/.test(line) && line.includes(`<${vms}>`),
  )
  expect({ made: made >= 0, synced: synced > made && synced < replaced, seen }).toMatchObject({
    made: true,
    synced: true,
  })
  await remove('first', 'second')
})
