/** Control sockets of hypervisors outlive the login session that a service was started in, and may lie deep. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
import { call, create, get, isAlive, run, small } from '../../support/vms.ts'

let root: string
let host: VmHost

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'backlot-sockets-'))
})

afterEach(async () => {
  await host[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

const tiny = { ...small, memory: '32MB' } as const
const unset = { BACKLOT_HOME: '', XDG_DATA_HOME: '', XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '', XDG_STATE_HOME: '' }

test('a VM that was started in a session answers when that is over', async () => {
  const [person, session] = [join(root, 'person'), join(root, 'session')]
  for (const folder of [person, session]) mkdirSync(folder)
  const start = (runtime: string) =>
    startVmHost(['--port', '0'], root, { ...unset, HOME: person, XDG_RUNTIME_DIR: runtime })
  host = await start(session)
  await create(host, 'lasting', tiny)
  const { pid, vncUrl } = await run(host, 'lasting', {})
  await host.kill()
  rmSync(session, { recursive: true })
  host = await start('')
  expect(await get(host, 'lasting')).toMatchObject({ status: 'running', pid, vncUrl, lastError: null })
  // Only over its socket can it be told to quit: one that is silent is killed.
  expect((await call(host, 'POST', '/svc/vms/lasting/stop', { graceSeconds: 0 }))[0]).toBe(200)
  expect(isAlive(pid)).toBe(false)
})

test('one whose sockets lie where services put them before is found', async () => {
  host = await startVmHost(['--port', '0'], root)
  await create(host, 'earlier', tiny)
  const { pid, vncUrl } = await run(host, 'earlier', {})
  await host.kill()
  const record = join(root, 'data/vms/earlier/run.json')
  const told = JSON.parse(readFileSync(record, 'utf8'))
  const before = join(root, 'runtime/vm')
  mkdirSync(before, { recursive: true })
  for (const socket of ['qmpSocket', 'agentSocket']) {
    const path = join(before, basename(told[socket]))
    renameSync(told[socket], path)
    told[socket] = path
  }
  writeFileSync(record, JSON.stringify(told))
  host = await startVmHost(['--port', '0'], root)
  expect(await get(host, 'earlier')).toMatchObject({ status: 'running', pid, vncUrl, lastError: null })
  expect((await call(host, 'POST', '/svc/vms/earlier/stop', { graceSeconds: 0 }))[0]).toBe(200)
  expect(isAlive(pid)).toBe(false)
})

test('a home whose path is longer than that of a socket may be runs VMs, and finds them again', async () => {
  const home = join(root, 'a'.repeat(100), 'b'.repeat(100))
  mkdirSync(home, { recursive: true })
  host = await startVmHost(['--port', '0'], home)
  await create(host, 'deep', tiny)
  const { pid, vncUrl } = await run(host, 'deep', {})
  await host.kill()
  host = await startVmHost(['--port', '0'], home)
  expect(await get(host, 'deep')).toMatchObject({ status: 'running', pid, vncUrl, lastError: null })
  // A guest that runs no system cannot be asked; that takes an answer of the hypervisor.
  expect((await call(host, 'PATCH', '/svc/vms/deep', { diskSize: '2GB' }))[0]).toBe(200)
  expect((await call(host, 'POST', '/svc/vms/deep/stop', { graceSeconds: 0 }))[0]).toBe(200)
  expect(isAlive(pid)).toBe(false)
})
