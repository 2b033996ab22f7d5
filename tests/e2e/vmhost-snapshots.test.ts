import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { runBacklot } from '../support/backlot.ts'
import { giveGuest, runningGuest } from '../support/prepared-guest.ts'
import { onTerminal } from '../support/terminal.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, checkDisk, create, get, image, names, sharedMemory } from '../support/vms.ts'

let host: VmHost
/** The first service of the home, with which that goes. */
let owner: VmHost

beforeAll(async () => {
  owner = await startVmHost()
  host = owner
  await giveGuest(host)
  sharedBases = bases()
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  await owner[Symbol.asyncDispose]()
})

const vms = () => join(host.home, 'data/vms')

/** What a command in the guest prints. */
const inside = async (command: string, name = 'one'): Promise<string> => {
  const [status, body] = await call(host, 'POST', `/svc/vms/${name}/exec`, { command })
  expect([status, body]).toEqual([200, expect.objectContaining({ exitCode: 0 })])
  return String(body.stdout).trim()
}

const take = (snapshot: string, name = 'one') => call(host, 'POST', `/svc/vms/${name}/snapshots`, { snapshot })
const restore = (snapshot: string, name = 'one') => call(host, 'POST', `/svc/vms/${name}/snapshots/${snapshot}/restore`)
const list = async () => (await call(host, 'GET', '/svc/vms/one/snapshots'))[1] as unknown as { name: string }[]
const stop = () => call(host, 'POST', '/svc/vms/one/stop', { graceSeconds: 0 })

/** The disks on which others lie. */
const bases = () => (existsSync(join(vms(), '.bases')) ? readdirSync(join(vms(), '.bases')).sort() : [])

/** The base that a disk in a folder lies on, by what qemu-img says of it; it may be in use. */
const baseOf = (folder: string): string => {
  const disk = join(vms(), folder, 'disk.qcow2')
  const { stdout } = Bun.spawnSync(['qemu-img', 'info', '--force-share', '--output=json', disk])
  return basename(JSON.parse(stdout.toString())['backing-filename'])
}

let boot: string
/** What the guest lies on that all tests share. */
let sharedBases: string[]

test('a snapshot is taken of a VM that stands still, and of one that runs, which goes on', async () => {
  await create(host, 'bare')
  expect(await take('empty', 'bare')).toEqual([
    200,
    { name: 'empty', createdAt: expect.any(String), hasMemory: false, memoryBytes: 0, follows: null },
  ])
  await runningGuest(host, 'one')
  boot = await inside('cat /proc/sys/kernel/random/boot_id')
  await inside('mkdir -p /run/t && mount -t tmpfs t /run/t && echo first >/run/t/word && echo first >/var/word')
  // As if it had stood still for years.
  await inside('date -u -s 2020-02-02 >/dev/null')
  const [status, taken] = await take('first')
  expect([status, taken]).toEqual([200, expect.objectContaining({ name: 'first', hasMemory: true })])
  expect(taken.memoryBytes).toBeGreaterThan(25 * 2 ** 20)
  expect((await get(host, 'one')).status).toBe('running')
  expect(await inside('cat /proc/sys/kernel/random/boot_id /run/t/word')).toBe(`${boot}\nfirst`)
  const behind = async () => Date.now() / 1000 - Number(await inside('date +%s'))
  await until('the guest to have the time', async () => Math.abs(await behind()) < 60)
  expect((await take('next'))[0]).toBe(200)
  expect(await list()).toMatchObject([
    { name: 'first', follows: null },
    { name: 'next', follows: 'first' },
  ])
  expect((await take('first'))[1]).toMatchObject({ code: 'snapshot_exists' })
  expect((await restore('first'))[1]).toMatchObject({ code: 'vm_running' })
})

test('the VM becomes again what it was, as often as is asked, also for the next service', async () => {
  await inside('echo second >/run/t/word; echo second >/var/word; sync')
  expect((await stop())[0]).toBe(200)
  await host.kill()
  host = await startVmHost(['--port', '0'], host.home)
  const seeds = new Set<string>()
  for (let round = 0; round < 2; round++) {
    expect((await restore('first'))[0]).toBe(200)
    expect(await get(host, 'one')).toMatchObject({ status: 'suspended', lastError: null })
    expect((await call(host, 'POST', '/svc/vms/one/resume'))[0]).toBe(200)
    expect(await inside('cat /proc/sys/kernel/random/boot_id /run/t/word /var/word')).toBe(`${boot}\nfirst\nfirst`)
    seeds.add(await inside('head -c 16 /dev/urandom | od -An -tx1'))
    await inside('echo third >/run/t/word; echo third >/var/word; sync')
    expect((await stop())[0]).toBe(200)
    expect(checkDisk(join(vms(), 'one'))).toBe(0)
  }
  expect(seeds.size).toBe(2)
  expect((await restore('empty', 'bare'))[0]).toBe(200)
  expect((await get(host, 'bare')).status).toBe('stopped')
  expect((await restore('none'))[1]).toMatchObject({ code: 'snapshot_not_found' })
})

test('forks go on from a snapshot, whatever the VM does, each a machine of its own', async () => {
  const fork = (snapshot: string, forks: string[], of = 'one') =>
    call(host, 'POST', `/svc/vms/${of}/fork`, { names: forks, snapshot })
  const before = await names(host)
  expect((await fork('empty', ['none'], 'bare'))[1]).toMatchObject({ code: 'snapshot_without_memory' })
  expect((await fork('none', ['none']))[1]).toMatchObject({ code: 'snapshot_not_found' })
  expect(await names(host)).toEqual(before)
  const [status, made] = await fork('first', ['left', 'right'])
  expect([status, made]).toEqual([200, expect.objectContaining({ identity: ['own', 'own'] })])
  // The VM stands still as it was.
  expect((await get(host, 'one')).status).toBe('stopped')
  const forks = [await get(host, 'left'), await get(host, 'right')]
  const both = (command: string) => Promise.all(['left', 'right'].map((name) => inside(command, name)))
  // What they read of the disk could still lie in the memory that was saved.
  const below = ['one/snapshots/first', 'left', 'right'].map(baseOf)
  expect(new Set(below).size).toBe(1)
  const kept = `${boot}\nfirst\nfirst`
  expect(await both('cat /proc/sys/kernel/random/boot_id /run/t/word /var/word')).toEqual([kept, kept])
  expect(await both('hostname; cat /sys/class/net/eth0/address')).toEqual(
    forks.map(({ name, macAddress }) => `${name}\n${macAddress}`),
  )
  expect(new Set(await both('cat /etc/machine-id')).size).toBe(2)
  for (const clock of await both('date +%s')) expect(Math.abs(Number(clock) - Date.now() / 1000)).toBeLessThan(60)
  // One copy of what neither has written to, by what the kernel says of the pages.
  const [one, other] = forks.map(sharedMemory)
  expect([one?.inode, Number(one?.shared) > 8 * 1024]).toEqual([other?.inode, true])
  expect((await call(host, 'POST', '/svc/vms/right/stop', { graceSeconds: 0 }))[0]).toBe(200)
  expect(checkDisk(join(vms(), 'right'))).toBe(0)
  expect((await call(host, 'DELETE', '/svc/vms/right'))[0]).toBe(200)
})

test('a VM with snapshots is not moved', async () => {
  const [status, answer] = await call(host, 'PATCH', '/svc/vms/one', { storage: join(host.home, 'elsewhere') })
  expect([status, answer.code]).toEqual([400, 'vm_has_snapshots'])
  expect((await get(host, 'one')).locationName).toBe('home')
})

test('what a snapshot lies on stays as long as it is there, and goes with it', async () => {
  const before = bases().length
  await create(host, 'other', { image })
  // Whatever is collected now leaves what the snapshots need.
  expect((await call(host, 'DELETE', '/svc/vms/other'))[0]).toBe(200)
  expect(bases().length).toBe(before)
  expect((await restore('first'))[0]).toBe(200)
  for (const snapshot of ['first', 'next'])
    expect((await call(host, 'DELETE', `/svc/vms/one/snapshots/${snapshot}`))[0]).toBe(200)
  // The VM was made of it, and goes on without it.
  expect((await call(host, 'POST', '/svc/vms/one/resume'))[0]).toBe(200)
  expect(await inside('cat /proc/sys/kernel/random/boot_id /var/word')).toBe(`${boot}\nfirst`)
  expect((await stop())[0]).toBe(200)
  expect((await call(host, 'DELETE', '/svc/vms/one/snapshots/first'))[1]).toMatchObject({ code: 'snapshot_not_found' })
})

test('the command makes, lists, restores and deletes them', async () => {
  const backlot = async (...words: string[]) => {
    const done = await runBacklot(['vm', 'snapshot', ...words], { BACKLOT_HOST_URL: host.url, BACKLOT_HOME: host.home })
    expect([done.status, done.stderr]).toEqual([0, ''])
    return JSON.parse(done.stdout)
  }
  await backlot('create', 'one', 'typed')
  await backlot('create', 'one', 'later')
  const seen = await onTerminal(['vm', 'snapshot', 'ls', 'one'], {
    ...{ BACKLOT_HOST_URL: host.url, BACKLOT_HOME: host.home },
  })
  expect(seen.text).toMatch(/^typed .*\n {2}later /m)
  await backlot('rm', 'one', 'later')
  expect(await backlot('ls', 'one')).toMatchObject([{ name: 'typed', hasMemory: false }])
  expect(await backlot('restore', 'one', 'typed')).toMatchObject({ name: 'one', status: 'stopped' })
  await backlot('rm', 'one', 'typed')
  expect(await list()).toEqual([])
  for (const name of ['one', 'bare']) expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
  expect(existsSync(join(vms(), 'one'))).toBe(false)
  // The fork of a snapshot lives on without it, and without the VM.
  expect(await inside('cat /proc/sys/kernel/random/boot_id /var/word', 'left')).toBe(`${boot}\nfirst`)
  expect((await call(host, 'POST', '/svc/vms/left/stop', { graceSeconds: 0 }))[0]).toBe(200)
  expect([checkDisk(join(vms(), 'left')), bases().length > sharedBases.length]).toEqual([0, true])
  expect((await call(host, 'DELETE', '/svc/vms/left'))[0]).toBe(200)
  expect(bases()).toEqual(sharedBases)
})
