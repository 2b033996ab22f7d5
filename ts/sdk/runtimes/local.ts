/** The runtime `local`: private desktops in namespaces of this Linux, which `backlot local` looks after. */
import type { CallOptions, Fields, Listing } from '../basics.ts'
import { buildImage } from '../build/build-image.ts'
import { layerTimeoutMs } from '../build/run-step.ts'
import { withDeadline } from '../deadline.ts'
import { BacklotError, UnsupportedError } from '../errors.ts'
import { layerHashes } from '../image/hash.ts'
import { Image } from '../image/image.ts'
import { node } from '../node.ts'
import { checkFeatures, isImage } from '../sandbox/checks.ts'
import { listing } from '../sandbox/listing.ts'
import type {
  CopyOptions,
  Network,
  SandboxOptions,
  SavedSandbox,
  Source,
  WarmPoolInfo,
  WarmPoolOptions,
} from '../sandbox/options.ts'
import type { Isolation, RuntimeCheck, RuntimeFeatures } from './features.ts'
import { type HeldSandbox, Runtime } from './runtime.ts'
import type { RuntimeInfo } from './runtime-info.ts'

/** What it can do where namespaces work. */
const features: RuntimeFeatures = {
  os: ['linux'],
  kinds: ['container'],
  isolation: 'host-programs',
  suspend: 'frozen',
  fork: 'disk',
  snapshot: 'disk',
  pool: true,
  display: true,
  tunnel: true,
  mounts: true,
  network: ['none', 'loopback', 'internet'],
  resources: ['cpu', 'memoryMb', 'diskGb'],
}

const unisolatedPool = 'Desktops without namespaces are not kept ready; start one when it is needed.'

/** What it can do where they do not, for who accepts a desktop without isolation. */
const unisolated: RuntimeFeatures = {
  ...features,
  isolation: 'none',
  pool: { unsupported: unisolatedPool },
  mounts: { unsupported: 'Without namespaces there is no other place for a folder; its programs see all files.' },
  network: ['internet'],
  resources: ['cpu', 'memoryMb'],
}

/** What it can do without namespaces, by Landlock, for who accepts that. */
const withLandlock: RuntimeFeatures = {
  ...unisolated,
  isolation: 'landlock',
  mounts: { unsupported: 'Without namespaces there is no other place for a folder; copy its files (`files.upload`).' },
  tunnel: {
    unsupported:
      'At the level "landlock" no program calls ports of loopback, so as not to reach those of this machine.',
  },
}

/** Milliseconds that a start may take where nobody says. */
const startMs = 120_000

/** A private desktop in namespaces of this Linux. */
export class LocalRuntime extends Runtime {
  readonly name = 'local'
  readonly features = features

  constructor(readonly options: { readonly isolation?: Isolation } = {}) {
    super()
  }

  override async check(options: CallOptions = {}): Promise<RuntimeCheck> {
    if (globalThis.process?.platform !== 'linux') {
      const reason = 'It is made of namespaces of Linux.'
      return { available: false, reason, remedy: 'Run this program on Linux, or use another runtime.' }
    }
    try {
      const { levels, networks } = await this.#run(['levels'], options)
      const known = levels as Level[]
      const found = known.find(({ level, works }) => (level === 'own-root' && works) || level === features.isolation)
      if (found?.works) {
        return { available: true, features: { ...features, isolation: found.level, network: networks as Networks } }
      }
      const works = (name: Isolation) => known.some(({ level, works }) => level === name && works)
      const { isolation } = this.options
      if ((isolation === 'landlock' || isolation === 'none') && works('landlock')) {
        return { available: true, features: withLandlock }
      }
      if (isolation === 'none' && works('none')) return { available: true, features: unisolated }
      return {
        available: false,
        reason: found?.reason ?? 'The installed Backlot has no such sandboxes.',
        remedy: found?.remedy ?? 'Use another runtime.',
      }
    } catch (error) {
      if (!BacklotError.is(error) || error.code !== 'executable_not_found') throw error
      return { available: false, reason: error.message, remedy: 'Then try again.' }
    }
  }

  async start(source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    const unsafe = await this.#unsafeWords(options)
    if (!isImage(source)) {
      const words = [...startWords(null, name, options, this.options.isolation), ...unsafe, `--snapshot=${source.id}`]
      return infoOf(await this.#run(['start', ...words], options))
    }
    const image = source as Image
    const dict = image.toDict()
    const installing = dict.layers.findIndex(({ type }) => type === 'apt_install')
    // Among programs of the host nothing is installed.
    const isolation = installing === -1 ? this.options.isolation : 'own-root'
    const words = ['start', ...startWords(image, name, options, isolation), ...unsafe, '--env-from-input']
    const begin = async (...more: string[]) =>
      infoOf(
        await this.#run([...words, ...more], options, JSON.stringify(dict.env ?? {})).catch((error) =>
          withLayer(error, installing),
        ),
      )
    const [last] = (await layerHashes(image, 'local')).slice(-1)
    if (last === undefined || dict.layers.length === 0) return this.#built(await begin(), image, options)
    const { holdLayers } = await node('The runtime "local"', () => import('../local/sandbox-command.ts'))
    const limit = { ...options, timeoutMs: layerTimeoutMs }
    await using held = await withDeadline(limit, 'The wait for layers', (signal) => holdLayers(last.hash, signal))
    if (held.cached) {
      const info = await begin(`--layers=${last.hash}`).catch((error) => {
        if (!BacklotError.is(error) || error.code !== 'snapshot_not_found') throw error
      })
      // Else they were removed meanwhile.
      if (info !== undefined) return info
    }
    const info = await this.#built(await begin(), image, options)
    if (held.name !== null && !held.cached) {
      await this.#run(['keep-layers', '--', name, last.hash], options).catch(() => {
        // The sandbox has them all the same; the next one builds its own.
        options.signal?.throwIfAborted()
      })
    }
    return info
  }

  /** What asks for a desktop without isolation: who accepts one is given one where there is no better. */
  async #unsafeWords(options: CallOptions): Promise<readonly string[]> {
    if (this.options.isolation !== 'none') return []
    const check = await this.check(options)
    return check.available && check.features.isolation === 'none' ? ['--unsafe-no-isolation'] : []
  }

  /** Carries out the layers of an image, whose variables the sandbox has already. */
  async #built(info: RuntimeInfo, image: Image, options: SandboxOptions): Promise<RuntimeInfo> {
    const { env: _, steps, ...rest } = image.toDict()
    const others = steps?.filter(({ type }) => type !== 'env')
    await buildImage(this.transport(info), Image.fromDict({ ...rest, ...(others && { steps: others }) }), {
      ...(options.signal && { signal: options.signal }),
      onLayer: (at) => options.onProgress?.({ phase: 'layer', ...at }),
    })
    return info
  }

  async stop(name: string, options: CallOptions = {}): Promise<void> {
    try {
      await this.#run(['delete', '--', name], options)
    } catch (error) {
      if (!BacklotError.is(error) || error.code !== 'sandbox_not_found') throw error
    }
  }

  async isReady(info: RuntimeInfo, options: CallOptions = {}): Promise<boolean> {
    await withDeadline(options, 'The look at the sandbox', () => this.transport(info).getScreenSize(options), startMs)
    return true
  }

  async suspend(name: string, options: CallOptions = {}): Promise<void> {
    await this.#run(['suspend', '--', name], options)
  }

  async resume(_source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    return infoOf(await this.#run(['resume', '--', name], options))
  }

  async list(options: CallOptions = {}): Promise<readonly HeldSandbox[]> {
    return (await this.#run(['list'], options)).sandboxes as HeldSandbox[]
  }

  override async fork(name: string, forks: readonly string[], options: CopyOptions = {}): Promise<RuntimeInfo[]> {
    const memory = options.memory === true ? ['--memory'] : []
    const { sandboxes } = await this.#run(['fork', ...memory, '--', name, ...forks], options)
    return (sandboxes as Fields[]).map(infoOf)
  }

  override async snapshot(name: string, options: CopyOptions & { name?: string } = {}): Promise<SavedSandbox> {
    const given = options.name === undefined ? [] : [`--name=${options.name}`]
    return this.#saved((await this.#run(['snapshot', ...given, '--', name], options)) as unknown as Saved)
  }

  override async restore(name: string, snapshot: SavedSandbox, options: CallOptions = {}): Promise<RuntimeInfo> {
    return infoOf(await this.#run(['restore', '--', name, snapshot.id], options))
  }

  override async applyPool(source: Source, options: WarmPoolOptions): Promise<void> {
    const { name, size, ...shared } = options
    if (size === 0) return void (await this.#run(['pool', name, '--size=0'], options))
    if (!isImage(source)) throw new UnsupportedError('A pool of the runtime "local" starts from an image.')
    const image = source as Image
    checkFeatures(this.name, this.features, image, shared)
    const { env = {}, layers, files = [] } = image.toDict()
    if (files.length > 0) {
      throw new UnsupportedError('A pool of the runtime "local" copies no files into its sandboxes; mount them.')
    }
    const installing = layers.findIndex(({ type }) => type === 'apt_install')
    const isolation = installing === -1 ? this.options.isolation : 'own-root'
    const check = await this.check(options)
    if (check.available && check.features.pool !== true) throw new UnsupportedError(unisolatedPool)
    const words = [name, `--size=${size}`, ...startWords(image, undefined, shared, isolation)]
    const input = JSON.stringify({ env, layers })
    await this.#run(['pool', ...words, '--detach', '--image-from-input'], options, input).catch((error) =>
      withLayer(error, installing),
    )
  }

  override listPools(options: CallOptions = {}): Listing<WarmPoolInfo> {
    return listing(async () => {
      const { pools } = await this.#run(['pools'], options)
      return (pools as WarmPoolInfo[]).map(({ name, size, ready, starting }) => ({ name, size, ready, starting }))
    })
  }

  override async claim(pool: string, name: string, options: CallOptions = {}): Promise<RuntimeInfo> {
    const { claimLocal } = await node('The runtime "local"', () => import('../local/pools.ts'))
    return infoOf(await withDeadline(options, 'The claim', (signal) => claimLocal(pool, name, signal), startMs))
  }

  override listSnapshots(options: CallOptions = {}): Listing<SavedSandbox> {
    return listing(async () => {
      const { snapshots } = await this.#run(['snapshots'], options)
      return (snapshots as Saved[]).map((each) => this.#saved(each))
    })
  }

  override async deleteSnapshot(id: string, options: CallOptions = {}): Promise<void> {
    await this.#run(['delete-snapshot', '--', id], options)
  }

  #saved({ id, name, size_bytes, sandbox, created_at }: Saved): SavedSandbox {
    return {
      ...{ id, name, sandbox, source: this.name, memory: false },
      sizeBytes: size_bytes,
      createdAt: created_at,
      delete: (options) => this.deleteSnapshot(id, options),
    }
  }

  override async *logs(name: string, options: CallOptions & { follow?: boolean } = {}): AsyncIterable<string> {
    const { localLogs } = await node('The runtime "local"', () => import('../local/sandbox-command.ts'))
    yield* localLogs(name, options.follow ?? false, options.signal)
  }

  async #run(words: readonly string[], options: CallOptions, input?: string): Promise<Fields> {
    const { runLocal } = await node('The runtime "local"', () => import('../local/sandbox-command.ts'))
    return withDeadline(options, `backlot local ${words[0]}`, (signal) => runLocal(words, signal, input), startMs)
  }
}

/** A snapshot as `backlot local` tells it. */
interface Saved {
  readonly id: string
  readonly name: string | null
  readonly size_bytes: number
  readonly sandbox: string
  readonly created_at: string
}

type Networks = readonly ('none' | 'loopback' | 'internet')[]

interface Level {
  readonly level: Isolation
  readonly works: boolean
  readonly reason: string
  readonly remedy: string | null
}

/** Names the layer that installs packages where there is no own root for it: programs of the host are only read. */
const withLayer = (error: unknown, index: number): never => {
  const isLevel = BacklotError.is(error) && error.code === 'unsupported' && error.data?.isolation === 'own-root'
  if (index === -1 || !isLevel) throw error
  throw new UnsupportedError(
    `Layer ${index} installs packages, and sandboxes of the runtime "local" see the programs of this machine, which they cannot change, until there is an own root for them: run \`backlot local build\`, of which \`backlot local levels\` says what it needs. Or install them here, or use another runtime.`,
    { data: { runtime: 'local', index }, cause: error },
  )
}

const startWords = (
  image: Image | null,
  name: string | undefined,
  options: SandboxOptions,
  isolation: Isolation | undefined,
): string[] => {
  const { cpu, memoryMb, diskGb, ttlMs, labels = {}, mounts = [], network = 'internet', strict, timeoutMs } = options
  const limit = timeoutMs ?? startMs
  const given = (flag: string, value: unknown) => (value === undefined ? [] : [`--${flag}=${value}`])
  return [
    ...given('name', name),
    `--network=${networkWord(network)}`,
    ...given('distro', wantedDistro(image)),
    ...given('isolation', isolation),
    ...given('cpu', cpu),
    ...given('memory-mb', memoryMb),
    ...given('disk-gb', diskGb),
    ...given('ttl-ms', ttlMs),
    ...given('timeout-ms', Number.isFinite(limit) ? Math.max(1, Math.round(limit)) : undefined),
    ...(strict ? ['--strict'] : []),
    ...Object.entries(labels).map(([key, value]) => `--label=${key}=${value}`),
    ...mounts.map(({ hostPath, path, readOnly = false }) => {
      return `--mount=${JSON.stringify({ host_path: hostPath, path, read_only: readOnly })}`
    }),
  ]
}

/** Undefined where any will do. */
const wantedDistro = (image: Image | null): string | undefined =>
  image?.isDistroAsked && image.distro !== 'registry' ? image.distro : undefined

const networkWord = (network: Network): string =>
  typeof network === 'string' ? network : `allow=${network.allow.join(',')}`

const infoOf = (answer: Fields): RuntimeInfo => ({
  host: String(answer.host),
  apiPort: Number(answer.api_port),
  apiKey: String(answer.api_key),
  guestServerPort: 8_000,
  name: String(answer.name),
  environment: 'linux',
})
