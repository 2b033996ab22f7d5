import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Image,
  type Runtime,
  type RuntimeFeatures,
  type RuntimeInfo,
  runtimes,
  Sandbox,
  type Source,
  type StartOptions,
} from '@backlot/sdk'
import { backlotCommand } from '../support/backlot.ts'
import { ProcessRuntime } from '../support/process-runtime.ts'
import { sandboxHome } from '../support/sandbox-home.ts'

const image = Image.desktop()

const errorOf = (work: PromiseLike<unknown>) =>
  Promise.resolve(work).then(
    () => undefined,
    (error) => error,
  )

/** A runtime whose sandboxes are found in the folder that its settings name. */
class FolderRuntime extends ProcessRuntime {
  override readonly name = 'vmhost' as 'process'

  override settings() {
    return { url: this.folder }
  }
}

/** Two runtimes of one name with different settings, and the row of the table that makes them. */
const folders = () => {
  const home = sandboxHome()
  const table = runtimes as { vmhost: (options?: { url?: string }) => Runtime }
  const { vmhost } = table
  const usual = join(home.folder, 'usual')
  const all = new Map<string, FolderRuntime>()
  const at = (folder: string) => {
    const runtime = new FolderRuntime(folder, backlotCommand())
    all.set(folder, runtime)
    return runtime
  }
  table.vmhost = ({ url = usual } = {}) => at(url)
  home.atEnd(async () => {
    table.vmhost = vmhost
    for (const runtime of all.values()) if (existsSync(runtime.folder)) await runtime.endAll()
  })
  return { ...home, usual: at(usual), other: at(join(home.folder, 'other')) }
}

const namesOf = async (runtime: ProcessRuntime): Promise<string[]> => (await runtime.list()).map(({ name }) => name)

test('another program finds a sandbox where the settings of its runtime say', async () => {
  const { other, states } = folders()
  await (await Sandbox.create(image, { runtime: other, name: 'placed' })).disconnect()
  const record = JSON.parse(readFileSync(join(states, 'placed.json'), 'utf8'))
  expect([record.runtime, record.settings]).toEqual(['vmhost', { url: other.folder }])
  const script = `
    import { runtimes, Sandbox } from '@backlot/sdk'
    import { ProcessRuntime } from './tests/support/process-runtime.ts'
    runtimes.vmhost = ({ url } = {}) => {
      const runtime = new ProcessRuntime(url ?? process.argv[1], ['true'])
      Object.defineProperty(runtime, 'name', { value: 'vmhost' })
      runtime.settings = () => ({ url: runtime.folder })
      return runtime
    }
    await using sandbox = await Sandbox.connect('placed')
    const { stdout } = await sandbox.shell.run('echo found')
    const [info] = await Sandbox.list({ local: true })
    console.log(JSON.stringify([stdout, info.name, info.status, info.warnings]))
    await Sandbox.delete('placed')`
  const child = Bun.spawnSync([process.execPath, '-e', script, join(other.folder, '..', 'elsewhere')], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env },
    stderr: 'inherit',
  })
  expect(JSON.parse(child.stdout.toString())).toEqual(['found\n', 'placed', 'running', []])
  expect(await other.list()).toEqual([])
})

test('what was stored before settings were is found by the runtime that the program was given', async () => {
  const { other, states } = folders()
  await (await Sandbox.create(image, { runtime: other, name: 'early' })).disconnect()
  const path = join(states, 'early.json')
  const { settings, ...before } = JSON.parse(readFileSync(path, 'utf8'))
  expect(settings).toBeDefined()
  writeFileSync(path, JSON.stringify(before))
  await using sandbox = await Sandbox.connect('early')
  expect((await sandbox.shell.run('echo early')).stdout).toBe('early\n')
})

test('the name of a runtime means its usual settings, whatever was passed before, and a sandbox the runtime that has it', async () => {
  const { usual, other } = folders()
  await (await Sandbox.create(image, { runtime: other, name: 'there' })).disconnect()
  await (await Sandbox.create(image, { runtime: 'vmhost', name: 'here' })).disconnect()
  expect([await namesOf(usual), await namesOf(other)]).toEqual([['here'], ['there']])
  for (const name of ['here', 'there']) {
    await using sandbox = await Sandbox.connect(name)
    expect((await sandbox.shell.run(`echo ${name}`)).stdout).toBe(`${name}\n`)
  }
  expect((await Sandbox.list({ runtime: other })).map(({ name, status }) => [name, status])).toEqual([
    ['there', 'running'],
  ])
  const error = await errorOf(Sandbox.delete('here', { runtime: other }))
  expect([error?.code, error?.message.includes('with other settings')]).toEqual(['sandbox_not_found', true])
  await Sandbox.delete('there')
  expect([await namesOf(usual), await namesOf(other)]).toEqual([['here'], []])
})

test('settings that JSON cannot hold are refused before anything starts', async () => {
  const { runtime } = sandboxHome()
  for (const settings of [{ large: 1n }, [], 'text']) {
    runtime.settings = () => settings as never
    expect((await errorOf(Sandbox.create(image, { runtime, name: 'never' })))?.code).toBe('invalid_argument')
  }
  expect(runtime.calls).toEqual([])
})

/** A runtime of a user that copies, and does what a test says when it copies. */
class ForkingRuntime extends ProcessRuntime {
  override readonly name = 'forking' as 'process'
  override readonly features: RuntimeFeatures = {
    ...new ProcessRuntime(this.folder, backlotCommand()).features,
    fork: 'memory',
  }
  onFork: (names: readonly string[]) => Promise<unknown> = async () => undefined

  override async fork(_name: string, names: readonly string[]): Promise<readonly RuntimeInfo[]> {
    await this.onFork(names)
    return Promise.all(names.map((each) => this.start(image, each)))
  }
}

const forking = () => {
  const home = sandboxHome()
  return { ...home, runtime: new ForkingRuntime(home.runtime.folder, backlotCommand()) }
}

test('the names of copies are reserved before a runtime copies, and nobody else gets them', async () => {
  const { runtime, states } = forking()
  await using origin = await Sandbox.create(image, { runtime, name: 'origin' })
  const codes: string[] = []
  runtime.onFork = async (names) => {
    expect(new Set(names).size).toBe(2)
    for (const name of names) {
      expect(existsSync(join(states, `${name}.json`))).toBe(true)
      codes.push((await errorOf(Sandbox.create(image, { runtime, name })))?.code)
    }
  }
  await using forks = await origin.fork(2)
  expect([forks.length, codes]).toEqual([2, ['sandbox_exists', 'sandbox_exists']])
})

test('copies that fail end what began under their names, and nothing of others', async () => {
  const { runtime, states } = forking()
  await using origin = await Sandbox.create(image, { runtime, name: 'origin' })
  await runtime.start(image, 'foreign')
  runtime.onFork = async ([first = '']) => {
    await runtime.start(image, first)
    throw new Error('half way')
  }
  expect((await errorOf(origin.fork(3)))?.message).toBe('half way')
  expect((await namesOf(runtime)).sort()).toEqual(['foreign', 'origin'])
  expect(readdirSync(states).filter((file) => file.endsWith('.json'))).toEqual(['origin.json'])
})

test('no call of a runtime is waited for longer than its limit or signal, and the error names both', async () => {
  const { runtime } = sandboxHome()
  const sandbox = await Sandbox.create(image, { runtime, name: 'stuck' })
  const stuck = () => new Promise<never>(() => undefined)
  const tried = async (
    verb: 'list' | 'check' | 'stop' | 'suspend' | 'resume',
    call: (limits: object) => PromiseLike<unknown>,
  ) => {
    const own = Object.getOwnPropertyDescriptor(runtime, verb)
    Object.assign(runtime, { [verb]: stuck })
    const late = await errorOf(call({ timeoutMs: 50 }))
    expect([late?.code, late?.data]).toEqual(['timeout', { timeoutMs: 50, runtime: 'process', verb }])
    expect(late?.message).toContain(`"${verb}" of the runtime "process"`)
    const cancel = new AbortController()
    const reason = new Error('enough')
    Object.assign(runtime, {
      [verb]: () => {
        cancel.abort(reason)
        return stuck()
      },
    })
    expect(await errorOf(call({ signal: cancel.signal }))).toBe(reason)
    if (own === undefined) Reflect.deleteProperty(runtime, verb)
    else Object.defineProperty(runtime, verb, own)
  }
  await tried('list', (limits) => Sandbox.list({ runtime, ...limits }))
  await tried('check', (limits) => Sandbox.getInfo('stuck', { runtime, ...limits }))
  await tried('stop', (limits) => Sandbox.delete('stuck', limits))
  await tried('suspend', (limits) => Sandbox.suspend('stuck', limits))
  await Sandbox.suspend('stuck')
  await tried('resume', (limits) => Sandbox.resume('stuck', limits))
  await (await Sandbox.resume('stuck')).disconnect()
  await sandbox.destroy()
})

test('a runtime that never says whether it is ready is given up, and what it started is ended', async () => {
  const { runtime } = sandboxHome()
  runtime.isReady = () => new Promise<never>(() => undefined)
  const error = await errorOf(Sandbox.create(image, { runtime, name: 'silent', timeoutMs: 3_000 }))
  expect(error).toMatchObject({ code: 'not_ready', data: { name: 'silent', runtime: 'process', verb: 'isReady' } })
  expect(await runtime.list()).toEqual([])
})

test('a log whose next line does not come is given up', async () => {
  const { runtime } = sandboxHome()
  await using _sandbox = await Sandbox.ephemeral(image, { runtime, name: 'quiet' })
  runtime.logs = async function* () {
    yield 'one'
    await new Promise(() => undefined)
  }
  const lines: string[] = []
  const error = await errorOf(
    (async () => {
      for await (const line of Sandbox.logs('quiet', { timeoutMs: 100 })) lines.push(line)
    })(),
  )
  expect([lines, error?.code, error?.data.verb]).toEqual([['one'], 'timeout', 'logs'])
})

/** Notes what it is told of ephemeral sandboxes. */
class ToldRuntime extends ProcessRuntime {
  override readonly name = 'binding' as 'process'
  readonly kept: string[] = []
  readonly told: (boolean | undefined)[] = []

  override async start(source: Source, name: string, options: StartOptions = {}): Promise<RuntimeInfo> {
    this.told.push(options.ephemeral)
    return super.start(source, name, options)
  }

  override async keep(name: string): Promise<void> {
    this.kept.push(name)
  }
}

test('a start is told whether its sandbox ends with the program, and let go of where it is kept', async () => {
  const home = sandboxHome()
  const runtime = new ToldRuntime(home.runtime.folder, backlotCommand())
  {
    await using _stays = await Sandbox.create(image, { runtime, name: 'stays' })
    await using ends = await Sandbox.ephemeral(image, { runtime, name: 'ends' })
    expect([runtime.told, runtime.kept]).toEqual([[false, true], []])
    await ends.keep()
    await ends.keep()
    expect(runtime.kept).toEqual(['ends'])
  }
  expect((await namesOf(runtime)).sort()).toEqual(['ends', 'stays'])
  {
    await using bound = await Sandbox.ephemeral(image, { runtime, name: 'bound' })
    runtime.keep = async () => {
      throw new Error('held fast')
    }
    expect((await errorOf(bound.keep()))?.message).toBe('held fast')
    expect((await bound.getInfo()).ephemeral).toBe(true)
  }
  expect((await namesOf(runtime)).sort()).toEqual(['ends', 'stays'])
})

test('a runtime that starts nothing but throws at once leaves no name behind', async () => {
  const { runtime, states } = sandboxHome()
  runtime.start = () => {
    throw new Error('at once')
  }
  expect((await errorOf(Sandbox.create(image, { runtime, name: 'none' })))?.message).toBe('at once')
  expect(readdirSync(states).filter((file) => file.endsWith('.json'))).toEqual([])
})
