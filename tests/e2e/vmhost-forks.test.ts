import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { forwardOf, hostKeys } from '../support/host-keys.ts'
import { giveGuest, runningGuest } from '../support/prepared-guest.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { booted, call, checkDisk, create, get, isAlive, names, run, sharedMemory } from '../support/vms.ts'

let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
  await giveGuest(host)
})

afterAll(() => host[Symbol.asyncDispose]())

const folder = (name: string) => join(host.home, 'data/vms', name)

/** What a command in the guest prints. */
const inside = async (name: string, command: string): Promise<string> => {
  const [status, body] = await call(host, 'POST', `/svc/vms/${name}/exec`, { command })
  expect([status, body]).toEqual([200, expect.objectContaining({ exitCode: 0 })])
  return String(body.stdout).trim()
}

const forks = ['left', 'right', 'third', 'fourth']
const family = ['parent', ...forks]

test('forks of a VM that runs go on from where it is, each with what makes it a machine of its own', async () => {
  const before = await runningGuest(host, 'parent')
  const boot = await inside('parent', 'cat /proc/sys/kernel/random/boot_id')
  await hostKeys(before)
  // A client that is connected all the while: what serves it in a fork is not its SSH server.
  const connected = Promise.withResolvers<void>()
  const { address, port } = forwardOf(before, 22)
  const client = await Bun.connect({ hostname: address, port, socket: { data: () => connected.resolve() } })
  await connected.promise
  await inside('parent', 'mkdir -p /run/t && mount -t tmpfs t /run/t && echo parent >/run/t/word; echo all >/var/word')
  const [status, answer] = await call(host, 'POST', '/svc/vms/parent/fork', { names: forks })
  expect([status, answer]).toEqual([200, expect.objectContaining({ names: forks, identity: forks.map(() => 'own') })])
  client.end()
  const vms = await Promise.all(family.map((name) => get(host, name)))
  expect(vms.map(({ status, identity }) => [status, identity])).toEqual(family.map(() => ['running', 'own']))
  for (const each of ['macAddress', 'uuid', 'ipAddress', 'pid'] as const)
    expect(new Set(vms.map((vm) => vm[each])).size).toBe(family.length)
  // One boot, three machines.
  const all = (command: string) => Promise.all(family.map((name) => inside(name, command)))
  expect(await all('cat /proc/sys/kernel/random/boot_id /run/t/word /var/word')).toEqual(
    family.map(() => `${boot}\nparent\nall`),
  )
  expect(await all('cat /sys/class/net/eth0/address')).toEqual(vms.map(({ macAddress }) => macAddress))
  expect(new Set(await all('cat /etc/machine-id')).size).toBe(family.length)
  expect(await all('hostname')).toEqual(family)
  const reseeded = await all("dmesg | grep -c 'reseeded due to virtual machine fork' || true")
  // The parent is a fork itself.
  expect(reseeded).toEqual(['1', ...forks.map(() => '2')])
  expect(new Set(await all('head -c 16 /dev/urandom | od -An -tx1')).size).toBe(family.length)
  for (const clock of await all('date +%s')) expect(Math.abs(Number(clock) - Date.now() / 1000)).toBeLessThan(60)
  const keys = (await Promise.all(vms.map(hostKeys))).flat()
  expect(new Set(keys).size).toBe(keys.length)
  for (const vm of vms) expect(await booted(vm)).toMatchObject({ status: 'ok' })
  // One copy of what they have not written to, mapped so that none can write to it.
  for (const memory of vms.map(sharedMemory)) {
    expect(memory).toMatchObject({ mode: 'rw-p', size: 256 * 1024 })
    expect(memory.shared).toBeGreaterThan(8 * 1024)
  }
})

test('a fork gives back no memory that the others have too', async () => {
  const [status, body] = await call(host, 'PATCH', '/svc/vms/left', { memory: '200MB' })
  expect([status, body.message]).toEqual([400, expect.stringContaining('does not give so much memory back')])
  expect((await get(host, 'left')).memorySize).toBe((await get(host, 'right')).memorySize)
})

test('what one writes no other sees, and the parent may go first', async () => {
  for (const name of family) await inside(name, `echo ${name} >/run/t/word; echo ${name} >/var/word; sync`)
  for (const name of family) expect(await inside(name, 'cat /run/t/word /var/word')).toBe(`${name}\n${name}`)
  // The life of the parent goes on for a while: kept, put back, and ended.
  for (const path of ['snapshots', 'stop', 'snapshots/kept/restore', 'resume']) {
    const body = { snapshots: { snapshot: 'kept' }, stop: { graceSeconds: 0 } }[path]
    expect((await call(host, 'POST', `/svc/vms/parent/${path}`, body))[0]).toBe(200)
    if (path === 'snapshots') await inside('parent', 'echo later >/run/t/word; echo later >/var/word; sync')
  }
  expect(await inside('parent', 'cat /run/t/word /var/word')).toBe('parent\nparent')
  for (const name of ['parent', 'third', 'fourth']) {
    expect((await call(host, 'POST', `/svc/vms/${name}/stop`, { graceSeconds: 0 }))[0]).toBe(200)
    expect(checkDisk(folder(name))).toBe(0)
    expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
    expect(existsSync(folder(name))).toBe(false)
  }
  // A fork of a fork, suspended: both are saved whole.
  expect((await call(host, 'POST', '/svc/vms/left/suspend'))[0]).toBe(200)
  const [status, answer] = await call(host, 'POST', '/svc/vms/left/fork', {})
  expect([status, answer]).toEqual([200, expect.objectContaining({ names: ['left-1'], identity: ['own'] })])
  expect((await get(host, 'left')).status).toBe('suspended')
  expect((await call(host, 'POST', '/svc/vms/left/resume'))[0]).toBe(200)
  for (const name of ['left', 'left-1']) expect(await inside(name, 'cat /run/t/word /var/word')).toBe('left\nleft')
  for (const name of ['left', 'left-1']) {
    expect((await call(host, 'POST', `/svc/vms/${name}/stop`, { graceSeconds: 0 }))[0]).toBe(200)
    expect(checkDisk(folder(name))).toBe(0)
  }
})

test('a pool has forks of a suspended VM ready, and one becomes the VM of a name', async () => {
  const pool = async (body: object, name = 'right') => call(host, 'POST', `/svc/vms/${name}/pool`, body)
  expect((await pool({ size: 1 }))[1].code).toBe('vm_not_suspended')
  const machineId = await inside('right', 'cat /etc/machine-id')
  expect((await call(host, 'POST', '/svc/vms/right/suspend'))[0]).toBe(200)
  expect(checkDisk(folder('right'))).toBe(0)
  const all = await names(host)
  expect(await pool({ size: 1 })).toEqual([200, { name: 'right', size: 1, ready: 0, isMemoryShort: false }])
  const isReady = () => until('a fork that is ready', async () => (await pool({}))[1].ready === 1)
  const waiting = () => readdirSync(folder('')).filter((name) => name.startsWith('.pool-'))
  await isReady()
  expect([waiting().length, await names(host)]).toEqual([1, all])
  const pid = Number(readFileSync(join(folder(String(waiting()[0])), 'hypervisor.pid'), 'utf8'))
  const [status, answer] = await call(host, 'POST', '/svc/vms/right/fork', { names: ['ready'] })
  expect([status, answer]).toEqual([200, expect.objectContaining({ names: ['ready'], identity: ['own'] })])
  const vm = await get(host, 'ready')
  // The process that ran before anybody asked.
  expect([vm.status, vm.pid]).toEqual(['running', pid])
  expect(await inside('ready', 'hostname; cat /var/word /sys/class/net/eth0/address')).toBe(
    `ready\nright\n${vm.macAddress}`,
  )
  expect(await inside('ready', 'cat /etc/machine-id')).not.toBe(machineId)
  expect(await booted(vm)).toMatchObject({ status: 'ok' })
  // Another is made behind it, until none is wanted.
  await isReady()
  const next = Number(readFileSync(join(folder(String(waiting()[0])), 'hypervisor.pid'), 'utf8'))
  expect((await pool({ size: 0 }))[1]).toMatchObject({ size: 0 })
  await until('the pool to be empty', () => waiting().length === 0 && !isAlive(next))
  for (const change of ['suspend', 'resume'])
    expect((await call(host, 'POST', `/svc/vms/ready/${change}`))[0]).toBe(200)
  expect(await inside('ready', 'hostname')).toBe('ready')
  expect((await call(host, 'POST', '/svc/vms/ready/stop', { graceSeconds: 0 }))[0]).toBe(200)
  expect(checkDisk(folder('ready'))).toBe(0)
})

test('a guest without an agent shares the identity of its parent, and its record says so', async () => {
  await create(host, 'silent', { network: 'none' })
  const { pid } = await run(host, 'silent')
  const [status, answer] = await call(host, 'POST', '/svc/vms/silent/fork', { count: 1 })
  expect([status, answer]).toEqual([200, expect.objectContaining({ names: ['silent-1'], identity: ['shared'] })])
  expect(await get(host, 'silent-1')).toMatchObject({ status: 'running', identity: 'shared' })
  expect([isAlive(pid), (await get(host, 'silent')).status]).toEqual([false, 'running'])
})

test('forks that cannot be are refused, and leave none behind', async () => {
  const before = await names(host)
  const fork = async (body: object, name = 'silent') =>
    (await call(host, 'POST', `/svc/vms/${name}/fork`, body))[1].code
  expect(await fork({ names: ['new', 'left'] })).toBe('vm_exists')
  expect(await fork({ names: ['new', 'new'] })).toBe('invalid_argument')
  expect(await fork({ count: 3, names: ['new'] })).toBe('invalid_argument')
  expect(await fork({ names: ['new', 'other'], replaced: 'the key of silent', replacements: ['one'] })).toBe(
    'invalid_argument',
  )
  expect(await fork({}, 'left')).toBe('vm_not_running')
  expect(await names(host)).toEqual(before)
})
