/** VMs that are there twice: moves that broke off, folders that somebody copied, services that meet. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { until } from '../../support/until.ts'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
import { call, checkDisk, create, ended, get, isAlive, names, run, small } from '../../support/vms.ts'

let host: VmHost
let home: string
let elsewhere: string

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'backlot-twins-'))
  elsewhere = join(home, 'elsewhere')
  host = await startVmHost(['--port', '0'], home)
})

afterEach(async () => {
  await host[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const tiny = { ...small, memory: '32MB' } as const
const here = (name: string) => join(home, 'data/vms', name)
const there = (name: string) => join(elsewhere, name)
const settings = (folder: string) => JSON.parse(readFileSync(join(folder, 'vm.json'), 'utf8'))
const change = (folder: string, changes: object) =>
  writeFileSync(join(folder, 'vm.json'), JSON.stringify({ ...settings(folder), ...changes }))

/** Ends the service in the middle of everything, does something behind its back, and starts the next one. */
const restart = async (meanwhile: () => void) => {
  await host.kill()
  meanwhile()
  host = await startVmHost(['--port', '0'], home)
}

const looseQuery = () => `?storage=${encodeURIComponent(elsewhere)}`

test('a move into a folder that is no location ends at the next start', async () => {
  await create(host, 'mover', tiny)
  const { uuid } = settings(here('mover'))
  await restart(() => {
    mkdirSync(elsewhere)
    cpSync(here('mover'), there('mover'), { recursive: true })
    change(here('mover'), { movingTo: there('mover') })
    change(there('mover'), { movedFrom: here('mover') })
  })
  expect(await names(host)).toEqual([])
  expect(existsSync(here('mover'))).toBe(false)
  expect(await get(host, 'mover', looseQuery())).toMatchObject({ uuid, status: 'stopped' })
  expect(settings(there('mover'))).not.toHaveProperty('movedFrom')
  expect(checkDisk(there('mover'))).toBe(0)
})

test('a move that has made nothing yet is forgotten', async () => {
  await create(host, 'stayer', tiny)
  await restart(() => change(here('stayer'), { movingTo: there('stayer') }))
  expect(await names(host)).toEqual(['stayer'])
  expect(settings(here('stayer'))).not.toHaveProperty('movingTo')
})

test('a VM that lived on is not taken for the rest of an old move', async () => {
  await create(host, 'elder', tiny)
  const { uuid } = settings(here('elder'))
  await restart(() => {
    mkdirSync(elsewhere)
    cpSync(here('elder'), there('elder'), { recursive: true })
    change(there('elder'), { movedFrom: here('elder') })
  })
  expect((await call(host, 'POST', '/svc/config/locations', { name: 'back', path: elsewhere }))[0]).toBe(200)
  await restart(() => {})
  expect(await names(host)).toEqual(['elder', 'elder'])
  expect((await get(host, 'elder', '?storage=home')).uuid).toBe(uuid)
  expect((await get(host, 'elder', '?storage=back')).uuid).not.toBe(uuid)
})

test('a move leaves no word of itself', async () => {
  await create(host, 'mover', tiny)
  expect((await call(host, 'POST', '/svc/config/locations', { name: 'back', path: elsewhere }))[0]).toBe(200)
  expect((await call(host, 'PATCH', '/svc/vms/mover', { storage: 'back' }))[0]).toBe(200)
  expect(existsSync(here('mover'))).toBe(false)
  expect(Object.keys(settings(there('mover'))).filter((key) => key.startsWith('mov'))).toEqual([])
  mkdirSync(here('mover'))
  expect((await call(host, 'PATCH', '/svc/vms/mover', { storage: 'home' }))[1].code).toBe('vm_exists')
  expect(settings(there('mover'))).not.toHaveProperty('movingTo')
})

test('a VM whose folder was copied runs beside its copy, and the next service knows them apart', async () => {
  await create(host, 'first', tiny)
  cpSync(here('first'), here('second'), { recursive: true })
  const [first, second] = [await run(host, 'first'), await run(host, 'second')]
  expect(first.ipAddress).not.toBe(second.ipAddress)
  await restart(() => {})
  expect(await get(host, 'first')).toMatchObject({ pid: first.pid, status: 'running' })
  expect(await get(host, 'second')).toMatchObject({ pid: second.pid, status: 'running' })
  process.kill(second.pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'second')).status === 'stopped')
  expect(await get(host, 'first')).toMatchObject({ pid: first.pid, status: 'running' })
  const [, { operationId }] = await call(host, 'POST', '/svc/vms/second/run', {})
  expect((await ended(host, String(operationId))).state).toBe('done')
  for (const name of ['first', 'second']) expect((await call(host, 'POST', `/svc/vms/${name}/stop`))[0]).toBe(200)
  expect([first, second].map(({ pid }) => isAlive(pid))).toEqual([false, false])
})

test('a second service does not call a VM stopped that runs under the first', async () => {
  await create(host, 'shared', tiny)
  await run(host, 'shared')
  const second = await startVmHost(['--port', '0'], home)
  const [, vms] = await call(second, 'GET', '/svc/vms')
  expect(vms as unknown).toMatchObject([{ name: 'shared', status: 'running', pid: null }])
  expect((await call(second, 'POST', '/svc/vms/shared/stop'))[1].code).toBe('already_running')
  await second[Symbol.asyncDispose]()
  expect((await get(host, 'shared')).status).toBe('running')
  expect((await call(host, 'POST', '/svc/vms/shared/stop'))[0]).toBe(200)
})

test('services of two login sessions, or that reach the VMs by two paths, do not both look after them', async () => {
  const person = join(home, 'person')
  const alias = join(home, 'alias')
  const session = join(home, 'session')
  for (const folder of [person, alias, session]) mkdirSync(folder)
  const unset = { BACKLOT_HOME: '', XDG_DATA_HOME: '', XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '', XDG_STATE_HOME: '' }
  const start = (environment: Record<string, string>) =>
    startVmHost(['--port', '0'], home, { ...unset, HOME: person, ...environment })
  await using first = await start({ XDG_RUNTIME_DIR: session })
  await create(first, 'brief', { ...tiny, storage: 'ephemeral' })
  symlinkSync(join(person, '.local/share/backlot'), join(alias, 'data'))
  for (const environment of [{ XDG_RUNTIME_DIR: '' }, { BACKLOT_HOME: alias }]) {
    await using second = await start(environment)
    expect(await names(second, '?storage=ephemeral')).toEqual(['brief'])
    expect((await call(second, 'DELETE', '/svc/vms/brief?storage=ephemeral'))[1].code).toBe('already_running')
  }
  expect(await names(first, '?storage=ephemeral')).toEqual(['brief'])
  await first.kill()
  await using third = await start({ XDG_RUNTIME_DIR: '' })
  expect(await names(third, '?storage=ephemeral')).toEqual([])
})

test('a VM has one place, by whatever path it is reached', async () => {
  const [real, alias] = [join(home, 'real'), join(home, 'alias')]
  mkdirSync(real)
  symlinkSync(real, alias)
  const at = (path: string) => `?storage=${encodeURIComponent(path)}`
  const records = async (...paths: string[]) =>
    Promise.all(paths.map(async (path) => (await call(host, 'GET', `/svc/vms${at(path)}`))[1] as unknown))
  await create(host, 'one', { ...tiny, storage: join(alias, 'below') })
  await run(host, 'one', { storage: join(alias, 'below') }, at(join(alias, 'below')))
  const record = { name: 'one', locationName: join(real, 'below'), status: 'running', pid: expect.any(Number) }
  expect(await records(join(real, 'below'), join(alias, 'below'))).toEqual([
    [expect.objectContaining(record)],
    [expect.objectContaining(record)],
  ])
  expect((await call(host, 'POST', '/svc/config/locations', { name: 'nas', path: join(real, 'below') }))[0]).toBe(200)
  expect(await records(join(alias, 'below'))).toEqual([[expect.objectContaining({ locationName: 'nas' })]])
  expect((await call(host, 'POST', '/svc/vms/one/stop', { storage: join(alias, 'below') }))[0]).toBe(200)
})

test('events and records name one place for a VM that is not to last', async () => {
  await create(host, 'brief', { ...tiny, storage: 'ephemeral' })
  const stream = await fetch(`${host.url}/svc/events`)
  await run(host, 'brief', { storage: 'ephemeral' }, '?storage=ephemeral')
  process.kill((await get(host, 'brief', '?storage=ephemeral')).pid as number, 'SIGKILL')
  const told: unknown[] = []
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of stream.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (/"name":"brief"[^\n]*"status":"stopped"/.test(text)) break
  }
  for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) {
    const { type, location, operation } = JSON.parse(data)
    told.push(type === 'vm' ? location : operation.location)
  }
  expect([...new Set(told)]).toEqual(['ephemeral'])
  expect(await get(host, 'brief', `?storage=${encodeURIComponent(join(home, 'data/ephemeral'))}`)).toMatchObject({
    locationName: 'ephemeral',
  })
})

test('a VM whose folder is gone while it runs is shown, can be stopped, and leaves nothing', async () => {
  await create(host, 'homeless', tiny)
  const { pid } = await run(host, 'homeless')
  rmSync(here('homeless'), { recursive: true })
  expect(await get(host, 'homeless')).toMatchObject({ status: 'running', pid })
  await until('it to be listed', async () => (await names(host)).includes('homeless'))
  expect((await call(host, 'DELETE', '/svc/vms/homeless'))[1].code).toBe('vm_running')
  expect((await call(host, 'POST', '/svc/vms/homeless/stop'))[0]).toBe(200)
  expect(isAlive(pid)).toBe(false)
  expect(await names(host)).toEqual([])
  expect((await call(host, 'GET', '/svc/vms/homeless'))[1].code).toBe('vm_not_found')
  expect(readdirSync(join(home, 'state/vm'))).toEqual([])
})

test('a damaged VM is listed with its reason beside the others, and can be deleted', async () => {
  await create(host, 'sound', tiny)
  for (const name of ['torn', 'odd', 'locked']) mkdirSync(here(name))
  writeFileSync(join(here('torn'), 'vm.json'), '{')
  mkdirSync(join(here('odd'), 'vm.json'))
  cpSync(join(here('sound'), 'vm.json'), join(here('locked'), 'vm.json'))
  mkdirSync(join(here('locked'), 'lock'))
  mkdirSync(here('called as no VM may be'))
  cpSync(join(here('sound'), 'vm.json'), join(here('called as no VM may be'), 'vm.json'))
  for (const query of ['', '?storage=home', `?storage=${encodeURIComponent(here('.'))}`]) {
    const [status, vms] = await call(host, 'GET', `/svc/vms${query}`)
    const told = (vms as unknown as Vm[]).map(({ name, status }) => `${name} ${status}`)
    expect([status, told.sort()]).toEqual([200, ['locked damaged', 'odd damaged', 'sound stopped', 'torn damaged']])
    await create(host, `more-${query.length}`, { ...tiny, storage: 'ephemeral' })
  }
  for (const [name, file] of [
    ['torn', 'vm.json'],
    ['odd', 'vm.json'],
    ['locked', 'lock'],
  ] as const) {
    const { status, lastError } = await get(host, name)
    expect([status, lastError]).toEqual(['damaged', expect.stringContaining(join(here(name), file))])
    expect((await call(host, 'POST', `/svc/vms/${name}/run`, {}))[1].code).toBe('vm_damaged')
  }
  const [, { error }] = await call(host, 'GET', '/svc/logs?type=error')
  expect((error as string[]).map((line) => JSON.parse(line).event)).toEqual(Array(3).fill('vm_damaged'))
  // Whether something runs there cannot be told.
  expect((await call(host, 'DELETE', '/svc/vms/locked'))[1].code).toBe('vm_damaged')
  rmSync(join(here('locked'), 'lock'), { recursive: true })
  for (const name of ['torn', 'odd', 'locked']) {
    expect([name, (await call(host, 'DELETE', `/svc/vms/${name}`))[0]]).toEqual([name, 200])
    await create(host, name, tiny)
  }
})

test('a VM that is damaged while it runs can be stopped; not deleted, as long as it runs', async () => {
  await create(host, 'hurt', tiny)
  const { pid } = await run(host, 'hurt')
  const text = readFileSync(join(here('hurt'), 'vm.json'))
  writeFileSync(join(here('hurt'), 'vm.json'), '{')
  expect(await get(host, 'hurt')).toMatchObject({ status: 'running', pid })
  await restart(() => {})
  expect((await get(host, 'hurt')).status).toBe('damaged')
  expect((await call(host, 'DELETE', '/svc/vms/hurt'))[1].code).toBe('vm_running')
  writeFileSync(join(here('hurt'), 'vm.json'), text)
  expect(await get(host, 'hurt')).toMatchObject({ status: 'running', pid })
  writeFileSync(join(here('hurt'), 'vm.json'), '{')
  await restart(() => {})
  // Nothing tells how it was started any more: it is ended.
  expect(await call(host, 'POST', '/svc/vms/hurt/stop')).toEqual([200, expect.objectContaining({ method: 'forced' })])
  expect(isAlive(pid)).toBe(false)
  expect((await get(host, 'hurt')).status).toBe('damaged')
  expect((await call(host, 'DELETE', '/svc/vms/hurt'))[0]).toBe(200)
  expect(existsSync(here('hurt'))).toBe(false)
})

test('where nothing can be made the reason is told, and nothing is left', async () => {
  writeFileSync(elsewhere, '')
  for (const storage of ['/proc', '/dev/null', join(elsewhere, 'below')]) {
    const [status, { code, message }] = await call(host, 'POST', '/svc/vms', { ...tiny, name: 'nowhere', storage })
    expect([status, code, String(message).includes(storage)]).toEqual([400, 'storage_unusable', true])
  }
  expect(await names(host)).toEqual([])
})
