/** The runtime `container`: desktops in containers of Docker. */
import { randomBytes } from 'node:crypto'
import type { CallOptions, Listing } from '../../basics.ts'
import { pause, withDeadline } from '../../deadline.ts'
import { BacklotError, ConnectionError, NotFoundError, TimeoutError } from '../../errors.ts'
import { isImage } from '../../sandbox/checks.ts'
import { listing } from '../../sandbox/listing.ts'
import type { CopyOptions, SandboxOptions, SandboxStatus, SavedSandbox, Source } from '../../sandbox/options.ts'
import { unavailable } from '../absent.ts'
import type { RuntimeCheck, RuntimeFeatures } from '../features.ts'
import type { HeldSandbox } from '../runtime.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import {
  hostConfig,
  type Inspected,
  infoOf,
  inspect,
  keyPath,
  ofSandbox,
  removeContainer,
  startContainer,
  sweepLeft,
} from './containers.ts'
import { type Engine, EngineError, outputLines } from './engine.ts'
import { findEngine } from './find.ts'
import { type BuildSettings, baseImage } from './images.ts'
import { containerOf, home, label, ownLabels } from './labels.ts'
import { commit, withLayers } from './layers.ts'

/** Milliseconds between two looks at a container that starts. */
const pollIntervalMs = 100

/** Where snapshots are kept in the engine. */
const snapshots = 'backlot-snapshot'

/** Bytes that are read of the archive with a container's key. */
const mostKeyBytes = 64 * 1024

const states: Readonly<Record<string, SandboxStatus>> = {
  created: 'provisioning',
  running: 'running',
  restarting: 'provisioning',
  paused: 'suspended',
}

/** The verbs of the runtime, on the engine that `host` names. */
export class Containers {
  constructor(
    readonly features: RuntimeFeatures,
    readonly host: string | undefined,
    readonly build: BuildSettings,
  ) {}

  async check({ signal }: CallOptions): Promise<RuntimeCheck> {
    const found = await findEngine(this.host)
    if (!('engine' in found)) return { available: false, ...found }
    const info = await found.engine.call<{ CpuCfsQuota: boolean; MemoryLimit: boolean }>('GET', '/info', { signal })
    const resources = [info.CpuCfsQuota && ('cpu' as const), info.MemoryLimit && ('memoryMb' as const)]
    return { available: true, features: { ...this.features, resources: resources.filter((each) => each !== false) } }
  }

  async start(source: Source, name: string, options: SandboxOptions): Promise<RuntimeInfo> {
    const engine = await this.#engine()
    await sweepLeft(engine, options.signal)
    const { id, warnings } = isImage(source)
      ? await baseImage(engine, source, this.build, options)
      : { id: await snapshotImage(engine, source.id), warnings: [] }
    const image = isImage(source) ? await withLayers(engine, source, id, options) : id
    options.onProgress?.({ phase: 'boot', message: 'The container starts.', percent: null })
    const key = newKey()
    const more = { [label.warnings]: JSON.stringify(warnings), [label.labels]: JSON.stringify(options.labels ?? {}) }
    const labels = { ...(await ownLabels()), ...more, [label.sandbox]: name }
    const container = containerOf(name)
    const host = hostConfig(options)
    return infoOf(
      await startContainer(engine, { container, image, labels, host, key, signal: options.signal }),
      name,
      key,
    )
  }

  async stop(name: string, { signal }: CallOptions): Promise<void> {
    const engine = await this.#engine()
    const found = await ofSandbox(engine, name, signal).catch((error) => {
      if (BacklotError.is(error) && error.code === 'sandbox_not_found') return undefined
      throw error
    })
    if (found !== undefined) await removeContainer(engine, found.Id, signal)
  }

  async isReady(info: RuntimeInfo, options: CallOptions): Promise<boolean> {
    const engine = await this.#engine()
    const id = info.containerId ?? ''
    try {
      return await withDeadline(options, 'The start of the desktop', async (signal) => {
        for (;;) {
          const { State } = await inspect(engine, id, signal)
          if (State.Status !== 'running') throw await ended(engine, id, State)
          const answer = await fetch(`http://${info.host}:${info.apiPort}/status`, { signal }).catch(() => undefined)
          if (answer?.ok && isUsable((await answer.json().catch(() => ({}))) as Status)) return true
          await pause(pollIntervalMs, signal)
        }
      })
    } catch (error) {
      if (BacklotError.is(error) && error instanceof TimeoutError) return false
      throw error
    }
  }

  async suspend(name: string, { signal }: CallOptions): Promise<void> {
    const engine = await this.#engine()
    const { Id } = await ofSandbox(engine, name, signal)
    await engine.call('POST', `/containers/${Id}/pause`, { signal })
  }

  async resume(name: string, { signal }: CallOptions): Promise<RuntimeInfo> {
    const engine = await this.#engine()
    const { Id, State } = await ofSandbox(engine, name, signal)
    if (State.Status === 'paused') await engine.call('POST', `/containers/${Id}/unpause`, { signal })
    else await engine.call('POST', `/containers/${Id}/start`, { signal })
    return infoOf(await inspect(engine, Id, signal), name, await keyOf(engine, Id, signal))
  }

  async list({ signal }: CallOptions): Promise<readonly HeldSandbox[]> {
    const engine = await this.#engine()
    await sweepLeft(engine, signal)
    const filters = JSON.stringify({ label: [`${label.home}=${home()}`, label.sandbox] })
    const query = { all: true, filters }
    type Listed = { State: string; Labels: Record<string, string> }
    const found = await engine.call<Listed[]>('GET', '/containers/json', { query, signal })
    return found.map(({ State, Labels }) => ({
      name: String(Labels[label.sandbox]),
      status: states[State] ?? 'stopped',
      warnings: JSON.parse(Labels[label.warnings] ?? '[]') as string[],
    }))
  }

  async *logs(name: string, { follow = false, signal }: CallOptions & { follow?: boolean }): AsyncIterable<string> {
    const engine = await this.#engine()
    const { Id } = await ofSandbox(engine, name, signal)
    const query = { stdout: true, stderr: true, follow }
    yield* outputLines(await engine.open('GET', `/containers/${Id}/logs`, { query, signal }))
  }

  async snapshot(name: string, { signal, name: title }: CopyOptions & { name?: string }): Promise<SavedSandbox> {
    const engine = await this.#engine()
    const { Id } = await ofSandbox(engine, name, signal)
    const id = randomBytes(8).toString('hex')
    const saved = { id, name: title ?? null, sandbox: name, home: home() }
    const image = await commit(
      engine,
      Id,
      `${snapshots}:${id}`,
      { Labels: { [label.snapshot]: JSON.stringify(saved) } },
      signal,
    )
    const { Size, Created } = await engine.call<{ Size: number; Created: string }>('GET', `/images/${image}/json`, {
      signal,
    })
    return this.#saved(saved, Size, new Date(Created).toISOString())
  }

  async restore(name: string, snapshot: SavedSandbox, { signal }: CallOptions): Promise<RuntimeInfo> {
    const engine = await this.#engine()
    const before = await ofSandbox(engine, name, signal)
    const image = await snapshotImage(engine, snapshot.id)
    const key = newKey()
    const labels = { ...before.Config.Labels, ...(await ownLabels()) }
    const aside = `${containerOf(name)}-restored-${randomBytes(4).toString('hex')}`
    // The one that is put back stands before the other goes: what fails leaves the sandbox as it was.
    const container = await startContainer(engine, {
      container: aside,
      image,
      labels,
      host: before.HostConfig,
      key,
      signal,
    })
    await removeContainer(engine, before.Id)
    await engine.call('POST', `/containers/${container.Id}/rename`, { query: { name: containerOf(name) } })
    return infoOf(container, name, key)
  }

  listSnapshots({ signal }: CallOptions): Listing<SavedSandbox> {
    return listing(async () => {
      const engine = await this.#engine()
      const query = { filters: JSON.stringify({ reference: [snapshots] }) }
      type Listed = { Size: number; Created: number; Labels: Record<string, string> | null }
      const found = await engine.call<Listed[]>('GET', '/images/json', { query, signal })
      return found.flatMap(({ Size, Created, Labels }) => {
        const saved = JSON.parse(Labels?.[label.snapshot] ?? '{}') as StoredSnapshot
        return saved.home === home() ? [this.#saved(saved, Size, new Date(Created * 1_000).toISOString())] : []
      })
    })
  }

  async deleteSnapshot(id: string, { signal }: CallOptions): Promise<void> {
    const engine = await this.#engine()
    await snapshotImage(engine, id)
    // By force, since sandboxes made from it keep its files without its name.
    await engine.call('DELETE', `/images/${snapshots}:${id}`, { query: { force: true }, signal })
  }

  #saved({ id, name, sandbox }: StoredSnapshot, sizeBytes: number, createdAt: string): SavedSandbox {
    const rest = { source: 'container', memory: false, createdAt }
    return { id, name, sandbox, sizeBytes, ...rest, delete: (options = {}) => this.deleteSnapshot(id, options) }
  }

  async #engine(): Promise<Engine> {
    const found = await findEngine(this.host)
    if ('engine' in found) return found.engine
    throw unavailable('container', found)
  }
}

interface Status {
  readonly phase?: unknown
}

interface StoredSnapshot {
  readonly id: string
  readonly name: string | null
  readonly sandbox: string
  readonly home: string
}

const newKey = (): string => randomBytes(32).toString('base64url')

/** The image of a snapshot of this home; throws `snapshot_not_found`. */
const snapshotImage = async (engine: Engine, id: string): Promise<string> => {
  try {
    if (!/^[0-9a-f]{16}$/.test(id)) throw new EngineError(404, 'no id of a snapshot')
    type Found = { Id: string; Config: { Labels: Record<string, string> | null } }
    const { Id, Config } = await engine.call<Found>('GET', `/images/${snapshots}:${id}/json`)
    const saved = JSON.parse(Config.Labels?.[label.snapshot] ?? '{}') as StoredSnapshot
    if (saved.home === home()) return Id
  } catch (error) {
    if (!(error instanceof EngineError) || error.status !== 404) throw error
  }
  const text = `There is no snapshot "${id}". \`Snapshot.list()\` names those there are.`
  throw new NotFoundError('snapshot_not_found', text, { data: { id } })
}

/** The key of a container's server, which stands in a file of it and nowhere else in the engine. */
const keyOf = async (engine: Engine, id: string, signal: AbortSignal | undefined): Promise<string> => {
  const answer = await engine.open('GET', `/containers/${id}/archive`, { query: { path: `/${keyPath}` }, signal })
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    length += piece.length
    // The user of the sandbox may write to the file.
    if (length > mostKeyBytes) {
      const text = `The file "/${keyPath}" of the container is longer than a key. Make the sandbox anew.`
      throw new ConnectionError('unreachable', text, { data: { id } })
    }
    pieces.push(piece)
  }
  const bytes = Buffer.concat(pieces)
  // One file: a header of 512 bytes, whose size stands in octal digits at 124, then its content.
  const size = Number.parseInt(bytes.toString('latin1', 124, 136), 8)
  return bytes.toString('utf8', 512, 512 + size)
}

/** Servers of other makers tell no phase. */
const isUsable = (status: Status): boolean => status.phase === undefined || status.phase === 'ready'

const ended = async (engine: Engine, id: string, state: Inspected['State']): Promise<ConnectionError> => {
  const query = { stdout: true, stderr: true, tail: 5 }
  const lines: string[] = []
  for await (const line of outputLines(await engine.open('GET', `/containers/${id}/logs`, { query }))) lines.push(line)
  const why = state.OOMKilled ? 'it needed more memory than it has' : lines.join(' / ') || 'it wrote nothing'
  return new ConnectionError('unreachable', `The container ended with ${state.ExitCode}: ${why}.`, { data: { id } })
}
