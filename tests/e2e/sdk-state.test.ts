import { expect, onTestFinished, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Image, Sandbox } from '@backlot/sdk'
import { backlotCommand } from '../support/backlot.ts'
import { stateOf } from '../support/process-runtime.ts'
import { type SandboxHome, sandboxHome } from '../support/sandbox-home.ts'
import { until } from '../support/until.ts'

const image = Image.desktop()

/** Another program that uses the package. */
const program = ({ folder, runtime }: SandboxHome, verb: string, name: string) =>
  Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, '../support/sandbox-program.ts'),
      verb,
      runtime.folder,
      name,
      ...backlotCommand(),
    ],
    { env: { ...process.env, BACKLOT_HOME: folder }, stdout: 'pipe', stderr: 'inherit' },
  )

const lineOf = async (child: ReturnType<typeof program>): Promise<string> =>
  new TextDecoder().decode((await child.stdout.getReader().read()).value).trim()

const pidOf = async ({ runtime }: SandboxHome, name: string): Promise<number> =>
  (await runtime.list()).find((each) => each.name === name)?.pid ?? 0

const errorOf = (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  work.then(
    () => ({ code: 'none', message: '' }),
    (error) => error,
  )

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error) => error.code ?? String(error),
  )

test('of programs that create one name at once exactly one gets it', async () => {
  const home = sandboxHome()
  const programs = Array.from({ length: 4 }, () => program(home, 'create', 'wanted'))
  const said = await Promise.all(programs.map((each) => new Response(each.stdout).text()))
  expect(said.map((each) => each.trim()).sort()).toEqual([
    'created',
    'sandbox_exists',
    'sandbox_exists',
    'sandbox_exists',
  ])
  expect(home.runtime.calls.map(({ verb, name }) => `${verb} ${name}`)).toEqual(['started wanted'])
  await using sandbox = await Sandbox.connect('wanted', { runtime: home.runtime })
  expect((await sandbox.shell.run('echo alive')).stdout).toBe('alive\n')
})

test('of calls of one program that create one name at once exactly one gets it', async () => {
  const { runtime } = sandboxHome()
  const codes = await Promise.all([1, 2, 3].map(() => codeOf(Sandbox.create(image, { runtime, name: 'wanted' }))))
  expect(codes.sort()).toEqual(['none', 'sandbox_exists', 'sandbox_exists'])
})

test('what a killed program held is ended by the next one, and lives as long as the program does', async () => {
  const home = sandboxHome()
  const { runtime } = home
  const holder = program(home, 'hold', 'held')
  expect(await lineOf(holder)).toBe('held')
  const pid = await pidOf(home, 'held')
  expect((await Sandbox.list({ runtime })).map(({ name, ephemeral }) => [name, ephemeral])).toEqual([['held', true]])
  expect(stateOf(pid)).toBeDefined()
  holder.kill('SIGKILL')
  await holder.exited
  expect(await Sandbox.list({ runtime })).toEqual([])
  expect(stateOf(pid)).toBeUndefined()
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`a program that ${signal} ends takes what it held with it, and dies of the signal`, async () => {
    const home = sandboxHome()
    const holder = program(home, 'hold', 'held')
    expect(await lineOf(holder)).toBe('held')
    const pid = await pidOf(home, 'held')
    holder.kill(signal)
    await holder.exited
    expect(holder.signalCode).toBe(signal)
    expect(stateOf(pid)).toBeUndefined()
    expect(readdirSync(home.states).filter((file) => file.endsWith('.json'))).toEqual([])
  })
}

test('a program that comes to its end takes what it held with it', async () => {
  const home = sandboxHome()
  const holder = program(home, 'leave', 'held')
  expect(await lineOf(holder)).toBe('held')
  expect(await holder.exited).toBe(0)
  expect(await home.runtime.list()).toEqual([])
})

test('a name that a program reserved before it was killed is free again', async () => {
  const home = sandboxHome()
  const { runtime } = home
  const reserver = program(home, 'reserve', 'early')
  expect(await lineOf(reserver)).toBe('reserved')
  expect(await Sandbox.getInfo('early', { runtime })).toMatchObject({ status: 'provisioning' })
  expect(await codeOf(Sandbox.connect('early', { runtime }))).toBe('sandbox_busy')
  reserver.kill('SIGKILL')
  await reserver.exited
  await using sandbox = await Sandbox.ephemeral(image, { runtime, name: 'early' })
  expect((await sandbox.shell.run('echo free')).stdout).toBe('free\n')
  expect(runtime.calls.map(({ verb }) => verb)).toEqual(['stopped', 'started'])
})

test('a start that fails leaves nothing, and is told as it failed', async () => {
  const { runtime, states } = sandboxHome()
  runtime.isReady = async () => false
  expect(await codeOf(Sandbox.create(image, { runtime, name: 'never', timeoutMs: 5_000 }))).toBe('not_ready')
  expect(await runtime.list()).toEqual([])
  expect(readdirSync(states).filter((file) => file.endsWith('.json'))).toEqual([])
  const cancelled = new AbortController()
  runtime.isReady = async () => {
    cancelled.abort(new Error('enough'))
    return true
  }
  const create = Sandbox.create(image, { runtime, name: 'never', signal: cancelled.signal })
  expect(create).rejects.toThrow('enough')
  await create.catch(() => undefined)
  expect(await runtime.list()).toEqual([])
})

test('a sandbox that could not be ended is told of, and ended later', async () => {
  const { runtime } = sandboxHome()
  const { stop } = runtime
  runtime.isReady = async () => false
  runtime.stop = async () => {
    throw new Error('the host is on fire')
  }
  expect(await codeOf(Sandbox.create(image, { runtime, name: 'stuck', timeoutMs: 5_000 }))).toBe('not_ready')
  const [info] = await Sandbox.list({ runtime })
  expect(info).toMatchObject({ name: 'stuck', status: 'provisioning' })
  expect(info?.warnings.join()).toContain('the host is on fire')
  runtime.stop = stop
  await Sandbox.delete('stuck')
  expect(await Sandbox.list({ runtime })).toEqual([])
})

test('a sandbox ends when its time is over, while its program runs and when nobody does', async () => {
  const home = sandboxHome()
  const { runtime } = home
  const short = await Sandbox.create(image, { runtime, name: 'short', ttlMs: 600_000 })
  expect(runtime.calls[0]).toMatchObject({ name: 'short', ttlMs: 600_000 })
  const pid = await pidOf(home, 'short')
  const { createdAt, expiresAt } = await short.getInfo()
  expect(Date.parse(expiresAt ?? '') - Date.parse(createdAt ?? '')).toBe(600_000)
  await short.setTtl(50)
  await until('the sandbox to end', () => stateOf(pid) === undefined)
  expect(await codeOf(Sandbox.getInfo('short', { runtime }))).toBe('sandbox_not_found')

  const long = await Sandbox.create(image, { runtime, name: 'long', ttlMs: 60_000 })
  await long.setTtl(null)
  expect((await long.getInfo()).expiresAt).toBeNull()
  await long.setTtl(1_000_000)
  expect(Date.parse((await long.getInfo()).expiresAt ?? '')).toBeGreaterThan(Date.now() + 900_000)
  // As if that time were over and its program long gone.
  const path = join(home.states, 'long.json')
  const record = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...record, expires_at: '2020-01-01T00:00:00.000Z' }))
  expect(await codeOf(Sandbox.connect('long', { runtime }))).toBe('sandbox_not_found')
  expect(await runtime.list()).toEqual([])
})

test('a damaged state file is named, hides no other sandbox, and is deleted with its runtime named', async () => {
  const home = sandboxHome()
  const { runtime, states } = home
  for (const name of ['whole', 'torn']) await (await Sandbox.create(image, { runtime, name })).disconnect()
  const path = join(states, 'torn.json')
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, 100))
  const infos = await Sandbox.list({ runtime })
  expect(infos.map(({ name }) => name)).toEqual(['whole', 'torn'])
  expect(infos[1]?.warnings.join()).toContain(path)
  for (const call of [Sandbox.connect, Sandbox.getInfo, Sandbox.delete]) {
    const error = await errorOf(call('torn'))
    expect([error.code, error.message.includes(path)]).toEqual(['state_unusable', true])
  }
  expect(await codeOf(Sandbox.create(image, { runtime, name: 'torn' }))).toBe('state_unusable')
  await Sandbox.delete('torn', { runtime })
  // Keys that are damaged stand in no one's way to delete it.
  writeFileSync(join(states, 'keys', 'whole.json'), '[]')
  expect(await codeOf(Sandbox.connect('whole'))).toBe('state_unusable')
  expect((await Sandbox.list({ runtime })).map(({ name }) => name)).toEqual(['whole'])
  expect((await runtime.list()).map(({ name }) => name)).toEqual(['whole'])
})

test('a state file of a later version is neither used nor overwritten, and what is unknown in one of ours stays', async () => {
  const { runtime, states } = sandboxHome()
  const sandbox = await Sandbox.create(image, { runtime, name: 'later' })
  const path = join(states, 'later.json')
  const record = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...record, extra: { from: 'another' } }))
  await sandbox.setTtl(1_000_000)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ extra: { from: 'another' } })
  const text = JSON.stringify({ format: 99, name: 'later', everything: 'else' })
  writeFileSync(path, text)
  for (const call of [
    () => Sandbox.connect('later'),
    () => Sandbox.suspend('later'),
    () => sandbox.keep(),
    () => Sandbox.delete('later', { runtime }),
    () => Sandbox.create(image, { runtime, name: 'later' }),
  ]) {
    const error = await errorOf(call())
    expect([error.code, /later version/.test(error.message)]).toEqual(['state_unusable', true])
  }
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('what a killed program had begun to write goes, and what is being written stays', async () => {
  const { runtime, states } = sandboxHome()
  await (await Sandbox.create(image, { runtime, name: 'whole' })).disconnect()
  for (const file of ['.new-old', '.new-fresh']) writeFileSync(join(states, file), '{')
  utimesSync(join(states, '.new-old'), 0, 0)
  expect((await Sandbox.list({ runtime })).map(({ name }) => name)).toEqual(['whole'])
  expect(readdirSync(states).filter((file) => file.startsWith('.new-'))).toEqual(['.new-fresh'])
})

test('a name that is none reaches no file', async () => {
  const { runtime, folder } = sandboxHome()
  for (const name of ['../escape', 'a/b', '', 'A', 'a'.repeat(64), '.', 'ä', 'a\n']) {
    expect(await codeOf(Sandbox.create(image, { runtime, name }))).toBe('invalid_argument')
    expect(await codeOf(Sandbox.getInfo(name))).toBe('invalid_argument')
    expect(await codeOf(Sandbox.delete(name, { runtime }))).toBe('invalid_argument')
  }
  expect(readdirSync(folder)).toEqual(['processes'])
})

test('what works on a sandbox waits for who works on it, and a dead one is not waited for', async () => {
  const { runtime, states } = sandboxHome()
  const sandbox = await Sandbox.ephemeral(image, { runtime, name: 'shared' })
  await Promise.all([sandbox.setTtl(1_000_000), sandbox.keep(), sandbox.setTtl(1_000_000), sandbox.keep()])
  const info = await sandbox.getInfo()
  expect([info.expiresAt === null, info.ephemeral]).toEqual([false, false])
  mkdirSync(join(states, 'locks'), { recursive: true })
  const lock = join(states, 'locks', 'shared')
  const owner = JSON.parse(readFileSync(join(states, 'shared.json'), 'utf8')).owner
  expect(owner).toBeNull()
  const child = Bun.spawn(['true'])
  await child.exited
  const dead = { pid: child.pid, started: 1, space: spaceHere(), host: hostname() }
  writeFileSync(lock, JSON.stringify({ id: crypto.randomUUID(), owner: dead }))
  await sandbox.setTtl(1_000_000)
  writeFileSync(lock, JSON.stringify({ id: crypto.randomUUID(), owner: { ...dead, host: 'another-machine' } }))
  expect(await codeOf(sandbox.setTtl(null, { timeoutMs: 100 }))).toBe('sandbox_busy')
})

test('locks of the dead go, with those under which they change hands, and those of others stay', async () => {
  const { runtime, states } = sandboxHome()
  await using sandbox = await Sandbox.ephemeral(image, { runtime, name: 'shared' })
  const child = Bun.spawn(['true'])
  await child.exited
  const dead = { pid: child.pid, started: 1, space: spaceHere(), host: hostname() }
  const holders = {
    left: dead,
    [`left.${crypto.randomUUID()}`]: dead,
    [`gone.${crypto.randomUUID()}`]: dead,
    abroad: { ...dead, host: 'another-machine' },
  }
  const lock = (name: string) => join(states, 'locks', name)
  for (const [name, owner] of Object.entries(holders)) {
    writeFileSync(lock(name), JSON.stringify({ id: crypto.randomUUID(), owner }))
  }
  writeFileSync(lock('damaged'), '{')
  const own = Bun.spawn(['sleep', '60'])
  onTestFinished(() => own.kill())
  const started = Number(readFileSync(`/proc/${own.pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[19])
  const living = JSON.stringify({ id: crypto.randomUUID(), owner: { ...dead, pid: own.pid, started } })
  writeFileSync(lock('living'), living)
  await Promise.all([1, 2, 3].map(() => Sandbox.list({ runtime })))
  expect(readdirSync(join(states, 'locks')).sort()).toEqual(['abroad', 'damaged', 'living'])
  expect(readFileSync(lock('living'), 'utf8')).toBe(living)
  await sandbox.setTtl(1_000_000)
})

const spaceHere = (): string => {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return `${boot} ${readlinkSync('/proc/self/ns/pid')}`
}
