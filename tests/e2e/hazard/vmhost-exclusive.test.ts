/** Work on a VM is exclusive: between services of two homes, with QEMU's own tools, and whatever path leads to it. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Operation } from '@backlot/contract/vmhost/operation'
import { until } from '../../support/until.ts'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
import { type Answer, call, checkDisk, create, ended, get, isAlive, names, run, small } from '../../support/vms.ts'

let root: string
/** The storage location of both services, which each reaches by a path of its own. */
let shared: string
let first: VmHost
let second: VmHost

const tiny = { ...small, memory: '32MB' } as const
const at = '?storage=nas'
const folder = (name: string) => join(shared, name)

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'backlot-exclusive-'))
  shared = join(root, 'shared')
  mkdirSync(shared)
  symlinkSync(shared, join(root, 'alias'))
  first = await startOn('one', 'shared')
  second = await startOn('two', 'alias')
})

afterEach(async () => {
  for (const host of [first, second]) {
    await call(host, 'POST', '/svc/vms/one/stop', { storage: 'nas', graceSeconds: 0 }).catch(() => undefined)
    await host[Symbol.asyncDispose]()
  }
  rmSync(root, { recursive: true, force: true })
})

/** A service on a home of its own, whose location `nas` is the folder of that path. */
const startOn = async (home: string, location: string): Promise<VmHost> => {
  mkdirSync(join(root, home), { recursive: true })
  const host = await startVmHost(['--port', '0'], join(root, home))
  await call(host, 'POST', '/svc/config/locations', { name: 'nas', path: join(root, location) })
  return host
}

const make = (name: string) => create(first, name, { ...tiny, storage: 'nas' })
const clone = (host: VmHost, name: string, newName: string): Promise<Answer> =>
  call(host, 'POST', '/svc/vms/clone', { name, newName, sourceLocation: 'nas' })
const set = (host: VmHost, name: string, changes: object): Promise<Answer> =>
  call(host, 'PATCH', `/svc/vms/${name}`, { sourceLocation: 'nas', ...changes })
const remove = (host: VmHost, name: string): Promise<Answer> => call(host, 'DELETE', `/svc/vms/${name}${at}`)
const stop = (host: VmHost, name: string): Promise<Answer> =>
  call(host, 'POST', `/svc/vms/${name}/stop`, { storage: 'nas', graceSeconds: 0 })

/** A program that holds the lock on a file, as another service does. */
const holdLock = async (path: string) => {
  const words = ['bash', '-c', 'exec 3>"$0"; flock 3 && echo held && exec sleep 600', path]
  const child = Bun.spawn(words, { stdout: 'pipe' })
  await child.stdout.getReader().read()
  return {
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}

/** The operation of a kind that is under way. */
const underWay = (host: VmHost, kind: string): Promise<Operation> =>
  until(`an operation "${kind}"`, async () => {
    const [, operations] = await call(host, 'GET', '/svc/operations')
    return (operations as unknown as Operation[]).find((each) => each.kind === kind && each.state === 'running')
  })

test('a VM that runs under one service is shown by the other, which does nothing to it until that one is gone', async () => {
  await make('one')
  const { pid } = await run(first, 'one', { storage: 'nas' }, at)
  expect(await get(second, 'one', at)).toMatchObject({ status: 'running', pid: null })
  const refused = ['already_running', 'vm_running']
  for (const answer of [
    await stop(second, 'one'),
    await call(second, 'POST', '/svc/vms/one/run', { storage: 'nas' }),
    await remove(second, 'one'),
    await clone(second, 'one', 'copy'),
    await set(second, 'one', { cpu: 2 }),
    await set(second, 'one', { storage: 'home' }),
  ]) {
    expect(refused).toContain(String(answer[1].code))
  }
  expect(await get(first, 'one', at)).toMatchObject({ status: 'running', pid, lastError: null })
  await first.kill()
  // It answers the one that is left: nobody else speaks with it.
  expect(await get(second, 'one', at)).toMatchObject({ status: 'running', pid, lastError: null })
  first = await startOn('one', 'shared')
  expect(await get(first, 'one', at)).toMatchObject({ status: 'running', pid: null })
  expect((await stop(first, 'one'))[1].code).toBe('already_running')
  expect((await stop(second, 'one'))[0]).toBe(200)
  expect(isAlive(pid)).toBe(false)
  expect(await get(first, 'one', at)).toMatchObject({ status: 'stopped' })
  expect((await remove(first, 'one'))[0]).toBe(200)
  expect(readdirSync(shared)).toEqual([])
})

test('what is asked for while another service works on the VM is done afterwards, and can be cancelled before', async () => {
  await make('busy')
  {
    await using _held = await holdLock(join(folder('busy'), 'work.lock'))
    const cancelled = clone(second, 'busy', 'never')
    const { id } = await underWay(second, 'clone')
    expect((await call(second, 'DELETE', `/svc/operations/${id}`))[0]).toBe(200)
    expect((await cancelled)[1].code).toBe('cancelled')
  }
  let held: AsyncDisposable = await holdLock(join(folder('busy'), 'work.lock'))
  const cloning = clone(second, 'busy', 'copy')
  await underWay(second, 'clone')
  expect(await names(second, at)).toEqual(['busy'])
  await held[Symbol.asyncDispose]()
  expect((await cloning)[0]).toBe(200)
  held = await holdLock(join(folder('busy'), 'work.lock'))
  const [, { operationId }] = await call(second, 'POST', '/svc/vms/busy/run', { storage: 'nas' })
  expect(await get(second, 'busy', at)).toMatchObject({ status: 'starting' })
  // A start that waits is over at once, and does not come after all.
  expect(await stop(second, 'busy')).toEqual([200, expect.objectContaining({ method: 'forced' })])
  expect((await ended(second, String(operationId))).state).toBe('cancelled')
  await held[Symbol.asyncDispose]()
  expect(await get(second, 'busy', at)).toMatchObject({ status: 'stopped' })
  for (const name of ['busy', 'copy']) {
    expect(checkDisk(folder(name))).toBe(0)
    expect((await remove(second, name))[0]).toBe(200)
  }
})

test('a disk that a tool of QEMU has open is neither laid under a clone, moved, grown nor deleted', async () => {
  await make('open')
  const disk = join(folder('open'), 'disk.qcow2')
  const before = lstatSync(disk).ino
  const tool = Bun.spawn(['qemu-io', '-f', 'qcow2', disk], { stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' })
  // It prompts when it has opened the disk.
  await tool.stdout.getReader().read()
  for (const answer of [
    await clone(first, 'open', 'copy'),
    await call(first, 'POST', '/svc/vms/clone', { name: 'open', newName: 'copy', destLocation: 'home' }),
    await set(first, 'open', { storage: 'home' }),
    await set(first, 'open', { diskSize: '2GB' }),
    await remove(first, 'open'),
  ]) {
    expect(answer[1].code).toBe('disk_in_use')
  }
  tool.kill()
  await tool.exited
  expect([lstatSync(disk).ino, readdirSync(shared), await names(first)]).toEqual([before, ['open'], ['open']])
  expect((await clone(first, 'open', 'copy'))[0]).toBe(200)
  for (const name of ['open', 'copy']) {
    expect(checkDisk(folder(name))).toBe(0)
    expect((await remove(first, name))[0]).toBe(200)
  }
})

test('bases are left alone while another service makes one', async () => {
  for (const name of ['source', 'gone']) await make(name)
  expect((await clone(first, 'source', 'copy'))[0]).toBe(200)
  const bases = join(shared, '.bases')
  const base = 'between-link-and-rename.qcow2'
  writeFileSync(join(bases, base), '')
  {
    await using _held = await holdLock(join(shared, '.bases.lock'))
    expect((await remove(second, 'gone'))[0]).toBe(200)
    expect(readdirSync(bases)).toContain(base)
  }
  for (const name of ['source', 'copy']) expect((await remove(second, name))[0]).toBe(200)
  expect(readdirSync(shared)).toEqual([])
})

test('a service that takes charge in the middle of its life takes up what the other has left', async () => {
  await create(first, 'brief', { ...tiny, storage: 'ephemeral' })
  await using third = await startVmHost(['--port', '0'], join(root, 'one'))
  expect((await call(third, 'DELETE', '/svc/vms/brief?storage=ephemeral'))[1].code).toBe('already_running')
  await first.kill()
  const vms = join(root, 'one/data/vms')
  mkdirSync(join(vms, `.new-${crypto.randomUUID()}`), { recursive: true })
  await create(third, 'mine', tiny)
  expect(readdirSync(vms)).toEqual(['mine'])
  expect(await names(third, '?storage=ephemeral')).toEqual([])
  first = third
})

test('a symbolic link gives a VM no second name', async () => {
  await make('real')
  symlinkSync('real', folder('other'))
  expect(await names(first, at)).toEqual(['real'])
  expect(await call(first, 'GET', `/svc/vms/other${at}`)).toEqual([
    400,
    expect.objectContaining({ code: 'vm_not_found', detail: expect.stringContaining('symbolic link to "real"') }),
  ])
  expect((await remove(first, 'other'))[1].code).toBe('vm_not_found')
  expect((await clone(first, 'real', 'other'))[1].code).toBe('vm_exists')
  expect(lstatSync(folder('other')).isSymbolicLink()).toBe(true)
  rmSync(folder('other'))
  expect((await remove(first, 'real'))[0]).toBe(200)
})

test('a VM whose lock cannot be taken is not deleted, and the reason is told', async () => {
  await make('foreign')
  for (const file of ['work.lock', 'lock']) {
    writeFileSync(join(folder('foreign'), file), '')
    chownSync(join(folder('foreign'), file), 12345, 12345)
    expect(await remove(first, 'foreign')).toEqual([
      400,
      expect.objectContaining({ code: 'lock_refused', message: expect.stringContaining('another user (12345)') }),
    ])
    rmSync(join(folder('foreign'), file))
  }
  const mount = (...words: string[]) => expect(Bun.spawnSync(['mount', ...words]).exitCode).toBe(0)
  mount('--bind', shared, shared)
  try {
    mount('-o', 'remount,ro,bind', shared)
    expect(await names(first, at)).toEqual(['foreign'])
    expect(await remove(first, 'foreign')).toEqual([
      400,
      expect.objectContaining({ code: 'lock_refused', message: expect.stringContaining('Read-only file system') }),
    ])
  } finally {
    expect(Bun.spawnSync(['umount', shared]).exitCode).toBe(0)
  }
  expect((await remove(first, 'foreign'))[0]).toBe(200)
  expect(existsSync(folder('foreign'))).toBe(false)
})
