import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../support/until.ts'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
import { call, checkDisk, create, ended, get, isAlive, names, run, small } from '../../support/vms.ts'

let host: VmHost
let scratch: string

beforeAll(async () => {
  host = await startVmHost()
  scratch = mkdtempSync(join(tmpdir(), 'backlot-failures-'))
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true, force: true })
})

const tiny = { ...small, memory: '32MB' } as const
const folder = (name: string) => join(host.home, 'data/vms', name)

/** Starts a VM that cannot start, and gives the code of the reason, after which it is as stopped as before. */
const failsToStart = async (name: string) => {
  const [status, { operationId }] = await call(host, 'POST', `/svc/vms/${name}/run`, {})
  expect(status).toBe(202)
  const { state, cause } = await ended(host, String(operationId))
  const vm = await get(host, name)
  expect([state, vm.status, vm.pid, vm.lastError]).toEqual(['failed', 'stopped', null, cause?.message ?? ''])
  expect([existsSync(join(folder(name), 'run.json')), existsSync(join(folder(name), 'lock'))]).toEqual([false, false])
  return cause?.code
}

test('a damaged disk is called one, and nothing of it is lost', async () => {
  await create(host, 'torn', tiny)
  const path = join(folder('torn'), 'disk.qcow2')
  const before = readFileSync(path)
  const torn = Buffer.from(before)
  torn.fill(0xff, 40, 72)
  writeFileSync(path, torn)
  expect(await failsToStart('torn')).toBe('disk_corrupt')
  expect(readFileSync(path).equals(torn)).toBe(true)
  writeFileSync(path, before)
  expect((await run(host, 'torn')).status).toBe('running')
  expect((await call(host, 'POST', '/svc/vms/torn/stop'))[0]).toBe(200)
})

test('more memory than there is gets the words of the hypervisor, and a code', async () => {
  await create(host, 'vast', { ...small, memory: '100TB' })
  expect(await failsToStart('vast')).toBe('host_memory')
  const { operationId } = await get(host, 'vast')
  const { messages } = await ended(host, String(operationId))
  expect(messages.join()).toContain('Cannot allocate memory')
  expect((await call(host, 'PATCH', '/svc/vms/vast', { memory: '32MB' }))[0]).toBe(200)
  const { pid } = await run(host, 'vast')
  process.kill(pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'vast')).status === 'stopped')
})

test('a base that is gone is named', async () => {
  await create(host, 'above', tiny)
  expect((await call(host, 'POST', '/svc/vms/clone', { name: 'above', newName: 'beside' }))[0]).toBe(200)
  const bases = join(host.home, 'data/vms/.bases')
  const [base = ''] = Array.from(new Bun.Glob('*').scanSync(bases))
  truncateSync(join(bases, base), 100)
  expect(await failsToStart('beside')).toBe('disk_corrupt')
  rmSync(join(bases, base))
  expect(await failsToStart('beside')).toBe('disk_not_found')
  expect((await get(host, 'beside')).lastError).toContain(base)
  for (const name of ['above', 'beside']) expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
})

test('a disk that another process has open is not opened twice', async () => {
  await create(host, 'shared', tiny)
  const other = Bun.spawn(['qemu-io', '-f', 'qcow2', join(folder('shared'), 'disk.qcow2')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  // It prompts when it has opened the disk.
  await other.stdout.getReader().read()
  expect(await failsToStart('shared')).toBe('disk_in_use')
  other.kill()
  await other.exited
  expect((await run(host, 'shared')).status).toBe('running')
  const { pid } = await get(host, 'shared')
  process.kill(pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'shared')).status === 'stopped')
})

test('a hypervisor that is killed leaves a stopped VM with the cause of its end', async () => {
  const { pid } = await run(host, 'shared')
  process.kill(pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'shared')).status === 'stopped')
  const vm = await get(host, 'shared')
  expect(structuredClone(vm.lastEnding)).toEqual({
    cause: expect.stringContaining('SIGKILL'),
    expected: false,
    at: expect.any(String),
  })
  expect(checkDisk(folder('shared'))).toBe(0)
  const { pid: next } = await run(host, 'shared')
  process.kill(next as number, 'SIGTERM')
  await until('its end to be seen', async () => (await get(host, 'shared')).status === 'stopped')
  expect((await get(host, 'shared')).lastEnding).toMatchObject({
    cause: expect.stringContaining('signal'),
    expected: false,
  })
})

test('one that hangs is still shown as running, and is ended by force', async () => {
  const { pid } = await run(host, 'shared')
  process.kill(pid as number, 'SIGSTOP')
  expect((await get(host, 'shared')).status).toBe('running')
  expect((await call(host, 'POST', '/svc/vms/shared/stop'))[1].method).toBe('forced')
  expect([isAlive(pid), (await get(host, 'shared')).status]).toEqual([false, 'stopped'])
})

test('one that hangs while its service is away is found, and ended or spoken with again', async () => {
  const home = mkdtempSync(join(tmpdir(), 'backlot-hung-'))
  let other = await startVmHost(['--port', '0'], home)
  for (const name of ['ended', 'waking']) await create(other, name, tiny)
  const [toEnd, toWake] = [(await run(other, 'ended')).pid as number, (await run(other, 'waking', {})).pid as number]
  for (const pid of [toEnd, toWake]) process.kill(pid, 'SIGSTOP')
  await other.kill()
  other = await startVmHost(['--port', '0'], home)
  for (const name of ['ended', 'waking']) {
    expect(await get(other, name)).toMatchObject({
      status: 'running',
      lastError: expect.stringContaining('not answer'),
    })
  }
  process.kill(toWake, 'SIGCONT')
  await until('the one that woke to be spoken with', async () => {
    const { vncUrl, lastError } = await get(other, 'waking')
    return vncUrl !== null && lastError === null
  })
  expect((await call(other, 'POST', '/svc/vms/ended/stop'))[1].method).toBe('forced')
  process.kill(toWake, 'SIGKILL')
  await until('its end to be seen', async () => (await get(other, 'waking')).status === 'stopped')
  await other[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

test('a port that is taken sends a VM to another address', async () => {
  await create(host, 'mobile', tiny)
  const { ipAddress, pid } = await run(host, 'mobile')
  process.kill(pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'mobile')).status === 'stopped')
  const squatter = createServer()
  await new Promise<void>((settle) => squatter.listen(8000, ipAddress as string, settle))
  const moved = await run(host, 'mobile')
  squatter.close()
  expect(moved.ipAddress).not.toBe(ipAddress)
  expect(moved.forwards.find(({ guestPort }) => guestPort === 8000)).toEqual({
    guestPort: 8000,
    address: moved.ipAddress as string,
    port: 8000,
  })
  process.kill(moved.pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'mobile')).status === 'stopped')
})

test('without a network it has no address', async () => {
  await create(host, 'alone', { ...tiny, network: 'none' })
  const vm = await run(host, 'alone')
  expect([vm.networkMode, vm.ipAddress, vm.forwards, vm.sshAvailable]).toEqual(['none', null, [], false])
  process.kill(vm.pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'alone')).status === 'stopped')
})

test('two services of one home do not look after the same VMs', async () => {
  const second = await startVmHost(['--port', '0'], host.home)
  expect((await call(second, 'POST', '/svc/vms', { ...tiny, name: 'other' }))[1].code).toBe('already_running')
  expect((await call(second, 'DELETE', '/svc/vms/shared'))[1].code).toBe('already_running')
  expect(await names(second)).toEqual(await names(host))
  // What the first one runs, the second shows as running, and keeps its hands off.
  const { pid } = await run(host, 'shared')
  expect(await get(second, 'shared')).toMatchObject({ status: 'running', pid: null })
  expect((await call(second, 'POST', '/svc/vms/shared/stop'))[1].code).toBe('already_running')
  expect((await call(second, 'POST', '/svc/vms/shared/run'))[1].code).toBe('vm_running')
  process.kill(pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'shared')).status === 'stopped')
  expect((await get(second, 'shared')).status).toBe('stopped')
  await second[Symbol.asyncDispose]()
})

test('a VM of a folder that is no location is found again by the next service', async () => {
  const home = mkdtempSync(join(tmpdir(), 'backlot-loose-'))
  const query = `?storage=${encodeURIComponent(scratch)}`
  let other = await startVmHost(['--port', '0'], home)
  await create(other, 'loose', { ...tiny, storage: scratch })
  const [, { operationId }] = await call(other, 'POST', '/svc/vms/loose/run', { storage: scratch })
  expect((await ended(other, String(operationId))).state).toBe('done')
  const { pid } = await get(other, 'loose', query)
  await other.kill()
  other = await startVmHost(['--port', '0'], home)
  expect(await get(other, 'loose', query)).toMatchObject({ status: 'running', pid })
  process.kill(pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(other, 'loose', query)).status === 'stopped')
  await other[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})
