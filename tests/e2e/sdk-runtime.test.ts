import { expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  type CallOptions,
  Image,
  type Listing,
  Runtime,
  type RuntimeFeatures,
  type RuntimeInfo,
  runtimes,
  Sandbox,
  type SandboxOptions,
  type SavedSandbox,
  Snapshot,
  type Source,
  type Transport,
  WarmPool,
  type WarmPoolInfo,
  type WarmPoolOptions,
} from '@backlot/sdk'
import { backlotCommand } from '../support/backlot.ts'
import { ProcessRuntime, serverKey } from '../support/process-runtime.ts'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'

const image = Image.desktop()

const errorOf = (work: PromiseLike<unknown>) =>
  Promise.resolve(work).then(
    () => undefined,
    (error) => error,
  )

const codeOf = async (work: PromiseLike<unknown>): Promise<string> => (await errorOf(work))?.code ?? 'none'

const listed = <T>(items: T[]): Listing<T> =>
  Object.assign(Promise.resolve(items), {
    async *[Symbol.asyncIterator]() {
      yield* items
    },
  })

/** A runtime that has every ability: its copies, and what waits in its pools, are processes too. */
class AbleRuntime extends ProcessRuntime {
  override readonly name = 'able' as 'process'
  override readonly features: RuntimeFeatures = {
    os: ['linux'],
    kinds: ['container'],
    isolation: 'none',
    suspend: 'frozen',
    fork: 'memory',
    snapshot: 'disk',
    pool: true,
    display: true,
    tunnel: true,
    mounts: true,
    network: ['none', 'loopback', 'internet', 'allow'],
    resources: ['cpu', 'memoryMb', 'diskGb'],
  }
  readonly asked: SandboxOptions[] = []
  readonly reached: RuntimeInfo[] = []
  readonly waited: (number | undefined)[] = []
  readonly saved = new Map<string, SavedSandbox>()
  readonly pools = new Map<string, WarmPoolInfo>()

  override async start(source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    this.asked.push(options)
    return { ...(await super.start(source, name, options)), vncPort: 5901, vncPassword: 'word-of-the-screen' }
  }

  override isReady(info: RuntimeInfo, options: CallOptions = {}): Promise<boolean> {
    this.waited.push(options.timeoutMs)
    return super.isReady(info, options)
  }

  override transport(info: RuntimeInfo): Transport {
    this.reached.push(info)
    return super.transport(info)
  }

  override fork(_name: string, forks: readonly string[]): Promise<readonly RuntimeInfo[]> {
    return Promise.all(forks.map((each) => super.start(image, each)))
  }

  override async snapshot(name: string, { name: label }: { name?: string } = {}): Promise<SavedSandbox> {
    const id = `saved-${this.saved.size + 1}`
    const saved: SavedSandbox = {
      id,
      name: label ?? null,
      sizeBytes: 7,
      sandbox: name,
      source: 'able',
      memory: false,
      createdAt: `2026-01-0${this.saved.size + 1}T00:00:00.000Z`,
      delete: (options) => this.deleteSnapshot(id, options),
    }
    this.saved.set(id, saved)
    return saved
  }

  override async restore(name: string, _snapshot: SavedSandbox): Promise<RuntimeInfo> {
    await this.stop(name)
    return super.start(image, name)
  }

  override listSnapshots(): Listing<SavedSandbox> {
    return listed([...this.saved.values()])
  }

  override async deleteSnapshot(id: string, _options?: CallOptions): Promise<void> {
    this.saved.delete(id)
  }

  override async applyPool(_source: Source, { name, size }: WarmPoolOptions): Promise<void> {
    if (size === 0) this.pools.delete(name)
    else this.pools.set(name, { name, size, ready: size, starting: 0 })
  }

  override listPools(): Listing<WarmPoolInfo> {
    return listed([...this.pools.values()])
  }

  override claim(_pool: string, name: string): Promise<RuntimeInfo> {
    return super.start(image, name)
  }
}

const ableHome = () => {
  const home = sandboxHome()
  return { ...home, runtime: new AbleRuntime(home.runtime.folder, backlotCommand()) }
}

test(
  'what a runtime says of a sandbox reaches whoever connects to it, whole',
  proving(
    [
      'sandbox.runtime-info.host',
      'sandbox.runtime-info.api-port',
      'sandbox.runtime-info.vnc-port',
      'sandbox.runtime-info.api-key',
      'sandbox.runtime-info.container-id',
    ],
    async () => expect(await wholeInfo(['host', 'apiPort', 'vncPort', 'apiKey', 'containerId'])).toEqual([]),
  ),
)

test(
  'its name, monitor, environment, agent and port inside are among it',
  proving(
    [
      'sandbox.runtime-info.name',
      'sandbox.runtime-info.qmp-port',
      'sandbox.runtime-info.environment',
      'sandbox.runtime-info.agent-type',
      'sandbox.runtime-info.guest-server-port',
    ],
    async () => expect(await wholeInfo(['name', 'qmpPort', 'environment', 'agentType', 'guestServerPort'])).toEqual([]),
  ),
)

test(
  'how SSH reaches it is among it',
  proving(
    [
      'sandbox.runtime-info.ssh-port',
      'sandbox.runtime-info.ssh-username',
      'sandbox.runtime-info.ssh-password',
      'sandbox.runtime-info.ssh-key-filename',
    ],
    async () => expect(await wholeInfo(['sshPort', 'sshUsername', 'sshPassword', 'sshKeyFilename'])).toEqual([]),
  ),
)

test(
  'how its screen and its emulator are reached is among it',
  proving(
    [
      'sandbox.runtime-info.vnc-host',
      'sandbox.runtime-info.vnc-password',
      'sandbox.runtime-info.grpc-port',
      'sandbox.info.vnc-url',
    ],
    async () => {
      expect(await wholeInfo(['vncHost', 'vncPassword', 'grpcPort'])).toEqual([])
    },
  ),
)

/** Which of these fields got lost between the runtime and a later connection. */
const wholeInfo = async (names: readonly (keyof RuntimeInfo)[]): Promise<string[]> => {
  const { runtime } = ableHome()
  const all: Omit<RuntimeInfo, 'host' | 'apiPort' | 'apiKey'> = {
    name: 'inner',
    containerId: 'c0ffee',
    environment: 'linux',
    agentType: 'osworld',
    guestServerPort: 5000,
    vncHost: '::1',
    vncPort: 5901,
    vncPassword: 'a',
    qmpPort: 4444,
    grpcPort: 8554,
    sshPort: 2222,
    sshUsername: 'me',
    sshPassword: 'b',
    sshKeyFilename: '/k',
  }
  const given: RuntimeInfo[] = []
  const start = runtime.start.bind(runtime)
  runtime.start = async (...args) => {
    const info = { ...(await start(...args)), ...all }
    given.push(info)
    return info
  }
  await (await Sandbox.create(image, { runtime, name: 'whole' })).disconnect()
  await (await Sandbox.connect('whole')).disconnect()
  expect((await Sandbox.getInfo('whole')).vncUrl).toBe('vnc://[::1]:5901')
  const read = runtime.reached.at(-1) as unknown as Record<string, unknown>
  const [written] = given as unknown as Record<string, unknown>[]
  return names.filter((each) => written?.[each] === undefined || read[each] !== written[each])
}

test(
  'a runtime starts an image under a name, is waited for, suspends, resumes, stops and lists',
  proving(
    [
      'sandbox.runtime.start',
      'sandbox.runtime.stop',
      'sandbox.runtime.is-ready',
      'sandbox.runtime.suspend-resume',
      'sandbox.runtime.list',
    ],
    async () => {
      const { runtime } = ableHome()
      const options = { cpu: 1, memoryMb: 256, diskGb: 1, network: 'none', labels: { a: 'b' }, ttlMs: 60_000 } as const
      const mounts = [{ hostPath: '/usr', path: '/mnt', readOnly: true }]
      const sandbox = await Sandbox.create(image, { runtime, name: 'worked', mounts, ...options })
      expect(runtime.asked).toEqual([expect.objectContaining({ ...options, mounts, name: 'worked' })])
      expect(await runtime.list()).toEqual([expect.objectContaining({ name: 'worked', status: 'running' })])
      expect(await sandbox.getDisplayUrl()).toBe('vnc://127.0.0.1:5901')
      expect(await codeOf(sandbox.getDisplayUrl({ share: true }))).toBe('unsupported')
      await Sandbox.suspend('worked')
      expect((await runtime.list())[0]?.status).toBe('suspended')
      await (await Sandbox.resume('worked')).disconnect()
      await sandbox.destroy()
      expect(await runtime.list()).toEqual([])
    },
  ),
)

test(
  'a sandbox may take two minutes until it is ready, and its server listens on 8000 inside, unless said otherwise',
  proving(['sandbox.limits.ready-timeout', 'sandbox.limits.guest-port'], async () => {
    const { runtime } = ableHome()
    await (await Sandbox.create(image, { runtime, name: 'usual' })).disconnect()
    await (await Sandbox.create(image, { runtime, name: 'quick', timeoutMs: 50_000 })).disconnect()
    expect(runtime.waited).toEqual([120_000, 50_000])
    await (await Sandbox.connect('usual')).disconnect()
    expect(runtime.reached.at(-1)?.guestServerPort).toBe(8_000)
  }),
)

test('copies of a sandbox are ephemeral and end together, but for the one that is kept', async () => {
  const { runtime } = ableHome()
  await using sandbox = await Sandbox.create(image, { runtime, name: 'origin', labels: { plan: 'x' } })
  const names: string[] = []
  let kept = ''
  {
    await using forks = await sandbox.fork(3)
    for (const fork of forks) {
      expect([fork.ephemeral, (await fork.shell.run('echo fork')).stdout]).toEqual([true, 'fork\n'])
      expect((await fork.getInfo()).labels).toEqual({ plan: 'x' })
      names.push(fork.name)
    }
    await forks[1]?.keep()
    kept = forks[1]?.name ?? ''
  }
  expect(new Set(names).size).toBe(3)
  expect((await runtime.list()).map(({ name }) => name).sort()).toEqual(['origin', kept].sort())
  runtime.fork = async () => []
  expect(await codeOf(sandbox.fork(2))).toBe('sandbox_not_running')
  expect((await runtime.list()).map(({ name }) => name).sort()).toEqual(['origin', kept].sort())
  expect(await codeOf(sandbox.fork(0))).toBe('invalid_argument')
})

test('a snapshot is listed, found, started from, put back and deleted; one with programs is refused where it cannot be', async () => {
  const { runtime } = ableHome()
  await using sandbox = await Sandbox.ephemeral(image, { runtime, name: 'origin' })
  expect(await codeOf(sandbox.snapshot())).toBe('unsupported')
  const saved = await sandbox.snapshot({ memory: false, name: 'before' })
  expect(saved).toBeInstanceOf(Snapshot)
  await sandbox.snapshot({ memory: false })
  expect((await Snapshot.list({ runtime })).map(({ id }) => id)).toEqual(['saved-2', 'saved-1'])
  expect(await Snapshot.list({ runtime, sandbox: 'other' })).toEqual([])
  expect((await Snapshot.get('before', { runtime })).id).toBe('saved-1')
  expect(await codeOf(Snapshot.get('after', { runtime }))).toBe('snapshot_not_found')
  {
    // Its runtime is where it is.
    await using copy = await Sandbox.ephemeral(saved)
    expect([copy.source, (await copy.shell.run('echo copy')).stdout]).toEqual(['able', 'copy\n'])
    await Sandbox.suspend(copy.name)
    await (await Sandbox.resume(copy.name)).disconnect()
    expect(await codeOf(copy.restore(saved))).toBe('invalid_argument')
  }
  expect(await codeOf(Sandbox.create(saved, { runtime: 'tart' }))).toBe('runtime_unavailable')
  const before = (await sandbox.getInfo()).apiUrl
  await sandbox.restore(saved)
  expect((await sandbox.shell.run('echo back')).stdout).toBe('back\n')
  expect((await sandbox.getInfo()).apiUrl).not.toBe(before)
  await saved.delete()
  expect((await Snapshot.list({ runtime })).map(({ id }) => id)).toEqual(['saved-2'])
})

test('a pool is made, found, told of, claimed from and ended', async () => {
  const { runtime } = ableHome()
  const pool = await WarmPool.apply(image, { runtime, name: 'desktops', size: 2 })
  expect(await pool.getInfo()).toEqual({ name: 'desktops', size: 2, ready: 2, starting: 0 })
  expect((await WarmPool.list({ runtime })).map(({ name }) => name)).toEqual(['desktops'])
  let name = ''
  {
    await using sandbox = await (await WarmPool.get('desktops', { runtime })).claim({ labels: { a: 'b' } })
    name = sandbox.name
    expect([sandbox.ephemeral, (await sandbox.shell.run('echo warm')).stdout]).toEqual([true, 'warm\n'])
    expect((await Sandbox.list({ runtime, labels: { a: 'b' } })).map((info) => info.name)).toEqual([name])
  }
  expect(await codeOf(Sandbox.getInfo(name))).toBe('sandbox_not_found')
  await pool.delete()
  expect(await codeOf(WarmPool.get('desktops', { runtime }))).toBe('pool_not_found')
  expect(await codeOf(WarmPool.apply(image, { runtime, name: 'desktops', size: 1.5 }))).toBe('invalid_argument')
  expect(await codeOf(WarmPool.apply(image, { runtime: 'container', name: 'desktops', size: 1 }))).toBe(
    'runtime_unavailable',
  )
})

/** What a user writes who knows the six verbs alone. */
class PlainRuntime extends Runtime {
  readonly name = 'plain'
  readonly features: RuntimeFeatures = { ...new AbleRuntime('/tmp', ['true']).features, fork: { unsupported: 'No.' } }
  start = refuse
  stop = refuse
  isReady = refuse
  suspend = refuse
  resume = refuse
  list = refuse
}

const refuse = async (): Promise<never> => {
  throw new Error('not asked')
}

test('what nobody overrides is refused with its declared reason, and else with the name of what is missing', async () => {
  const plain = new PlainRuntime()
  expect(await plain.check()).toEqual({ available: true, features: plain.features })
  expect(await errorOf(plain.fork('a', ['b']))).toMatchObject({ code: 'unsupported', reason: 'No.' })
  const others = [
    () => plain.snapshot('a'),
    () => plain.restore('a', {} as SavedSandbox),
    () => plain.deleteSnapshot('a'),
    () => plain.applyPool(image, { name: 'a', size: 1 }),
    () => plain.claim('a', 'b'),
    async () => plain.listPools(),
    async () => plain.listSnapshots(),
    async () => plain.logs('a'),
  ]
  for (const call of others)
    expect(await errorOf(call())).toMatchObject({ code: 'unsupported', data: { runtime: 'plain' } })
  const info = { host: '127.0.0.1', apiPort: 1, apiKey: serverKey }
  expect(await codeOf(plain.transport(info).connect({ timeoutMs: 2_000 }))).toBe('unreachable')
})

test('a runtime that cannot be used here says why and what helps, and refuses with it', async () => {
  sandboxHome()
  for (const [name, make] of Object.entries(runtimes)) {
    const runtime = make()
    const check = await runtime.check()
    if (check.available) continue
    expect(runtime.name).toBe(name)
    expect(check.reason).toEndWith('.')
    expect(check.remedy).toEndWith('.')
    const error = await errorOf(Sandbox.create(image, { runtime: name as keyof typeof runtimes }))
    expect(error).toMatchObject({ code: 'runtime_unavailable', data: { runtime: name, reason: check.reason } })
    expect(error?.message).toContain(check.remedy)
  }
  const elsewhere = ['lume', 'tart', 'hyperv', 'wsl2'] as const
  for (const name of elsewhere) {
    const check = await runtimes[name]().check()
    expect(check).toMatchObject({ available: false, reason: expect.stringContaining('this machine runs linux') })
  }
})

test('a sandbox of a runtime that this program does not know is told of and not touched', async () => {
  const home = sandboxHome()
  class Stranger extends ProcessRuntime {
    override readonly name = 'stranger' as 'process'
  }
  const stranger = new Stranger(home.runtime.folder, backlotCommand())
  await (await Sandbox.create(image, { runtime: stranger, name: 'strange' })).disconnect()
  // Another program, which was never given the runtime.
  const script = `
    import { Sandbox } from '@backlot/sdk'
    const [info] = await Sandbox.list({ local: true })
    const code = await Sandbox.delete('strange').then(() => 'none', (error) => error.code)
    console.log(JSON.stringify({ info, code }))`
  const child = Bun.spawnSync([process.execPath, '-e', script], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env },
  })
  const { info, code } = JSON.parse(child.stdout.toString())
  expect(info).toMatchObject({ name: 'strange', source: 'stranger', status: 'running' })
  expect(info.warnings.join()).toContain('does not know the runtime "stranger"')
  expect(code).toBe('runtime_unavailable')
  await Sandbox.delete('strange', { runtime: stranger })
})
