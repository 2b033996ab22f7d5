import { expect, onTestFinished, test } from 'bun:test'
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configure, Image, Sandbox } from '@backlot/sdk'
import { backlotCommand } from '../support/backlot.ts'
import { startCloud } from '../support/fake-cloud.ts'
import { ProcessRuntime } from '../support/process-runtime.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { until } from '../support/until.ts'

const image = Image.desktop()

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error) => error.code ?? String(error),
  )

test('who held a name before ends nothing of who has it now', async () => {
  const { runtime } = sandboxHome()
  const before = await Sandbox.create(image, { runtime, name: 'passed-on' })
  await Sandbox.delete('passed-on')
  await using now = await Sandbox.ephemeral(image, { runtime, name: 'passed-on' })
  expect(await codeOf(before.destroy())).toBe('sandbox_not_found')
  expect((await now.shell.run('echo alive')).stdout).toBe('alive\n')
  expect((await Sandbox.getInfo('passed-on')).status).toBe('running')
})

test('what one runtime deletes takes no state file of another', async () => {
  const { runtime, folder } = sandboxHome()
  class Other extends ProcessRuntime {
    override readonly name = 'other' as 'process'
  }
  const other = new Other(join(folder, 'others'), backlotCommand())
  onTestFinished(() => other.endAll())
  await (await Sandbox.create(image, { runtime, name: 'twice' })).disconnect()
  await other.start(image, 'twice')
  await Sandbox.delete('twice', { runtime: other })
  expect(await other.list()).toEqual([])
  expect(await Sandbox.getInfo('twice')).toMatchObject({ source: 'process', status: 'running' })
})

test('what a runtime holds of others outlives a program that was killed as it wanted the name', async () => {
  const home = sandboxHome()
  await home.runtime.start(image, 'foreign')
  const script = `
    import { Image, Sandbox } from '@backlot/sdk'
    import { ProcessRuntime } from './tests/support/process-runtime.ts'
    const runtime = new ProcessRuntime(process.argv[1], ['true'])
    runtime.list = async () => process.kill(process.pid, 'SIGKILL')
    await Sandbox.create(Image.desktop(), { runtime, name: 'foreign' })`
  const killed = Bun.spawn([process.execPath, '-e', script, home.runtime.folder], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env },
  })
  await killed.exited
  expect(killed.signalCode).toBe('SIGKILL')
  expect((await Sandbox.list({ runtime: home.runtime })).map(({ name, status }) => [name, status])).toEqual([
    ['foreign', 'running'],
  ])
})

test('the end of a scope deletes no VM that others made anew under its name', async () => {
  const home = sandboxHome()
  const apiKey = 'sk-a-key-that-nobody-sees'
  await using fake = startCloud(apiKey, join(home.folder, 'vms'))
  configure({ apiKey, baseUrl: fake.url })
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' }
  {
    await using _before = await Sandbox.ephemeral(image, { name: 'renewed' })
    await fetch(`${fake.url}/v1/vms/renewed`, { method: 'DELETE', headers })
    await fetch(`${fake.url}/v1/vms`, { method: 'POST', headers, body: '{"name":"renewed","os":"linux"}' })
  }
  expect((await Sandbox.list()).map(({ name, ephemeral }) => [name, ephemeral])).toEqual([['renewed', false]])
})

test('keys that a killed program had begun to write go', async () => {
  const { runtime, states } = sandboxHome()
  const folder = join(states, 'keys')
  mkdirSync(folder, { recursive: true })
  for (const file of ['.new-old', '.new-fresh']) writeFileSync(join(folder, file), '{"api_key":"k')
  utimesSync(join(folder, '.new-old'), 0, 0)
  await Sandbox.list({ runtime })
  expect(readdirSync(folder)).toEqual(['.new-fresh'])
})

test('a start that heeds neither limit nor signal is waited for no longer, and what comes of it late is ended', async () => {
  const { runtime } = sandboxHome()
  const start = runtime.start.bind(runtime)
  let go = () => {}
  const gate = new Promise<void>((open) => {
    go = open
  })
  runtime.start = async (source, name) => {
    await gate
    return start(source, name)
  }
  expect(await codeOf(Sandbox.create(image, { runtime, name: 'late', timeoutMs: 50 }))).toBe('not_ready')
  const cancelled = new AbortController()
  const create = Sandbox.create(image, { runtime, name: 'later', signal: cancelled.signal })
  await until('the start', async () => (await Sandbox.list({ runtime })).length === 2)
  cancelled.abort(new Error('enough'))
  expect(await codeOf(create)).toBe('Error: enough')
  // Nobody gets the names while something may still start under them.
  expect(await codeOf(Sandbox.create(image, { runtime, name: 'late' }))).toBe('sandbox_exists')
  go()
  await until('both to end', async () => (await Sandbox.list({ runtime })).length === 0)
  expect(runtime.calls.filter(({ verb }) => verb === 'started').length).toBe(2)
  expect(await runtime.list()).toEqual([])
})

test('fetching and building do not count as the start', async () => {
  const { runtime } = sandboxHome()
  runtime.start = async (_source, _name, options) => {
    options?.onProgress?.({ phase: 'download', bytes: 0, totalBytes: null })
    // Longer than the limit, which does not run meanwhile.
    await new Promise((wake) => setTimeout(wake, 60))
    throw new Error('fetched')
  }
  expect(await codeOf(Sandbox.create(image, { runtime, name: 'fetched', timeoutMs: 20 }))).toBe('Error: fetched')
})
