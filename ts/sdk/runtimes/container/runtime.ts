/** The runtime `container`: what it says that it can do; what does it is loaded when it is called. */
import type { CallOptions, Listing } from '../../basics.ts'
import { node } from '../../node.ts'
import { listing } from '../../sandbox/listing.ts'
import type { CopyOptions, SandboxOptions, SavedSandbox, Source } from '../../sandbox/options.ts'
import type { RuntimeCheck, RuntimeFeatures } from '../features.ts'
import { type HeldSandbox, Runtime } from '../runtime.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import type { Containers } from './container.ts'
import type { BuildSettings } from './images.ts'

/** What it can do where an engine answers. */
export const features: RuntimeFeatures = {
  os: ['linux'],
  kinds: ['container'],
  isolation: 'container',
  suspend: 'frozen',
  fork: {
    unsupported: 'The runtime "container" copies no sandboxes by this version; use `snapshot` and create from it.',
  },
  snapshot: 'disk',
  pool: { unsupported: 'A container engine keeps no pools; use `kubernetes`.' },
  display: true,
  tunnel: true,
  mounts: true,
  network: ['internet'],
  resources: ['cpu', 'memoryMb'],
}

/** The engine, by `host` as in `DOCKER_HOST`, and how the desktop's image is built. */
interface ContainerOptions {
  readonly host?: string
  readonly build?: BuildSettings
}

/** Desktops in containers of Docker. */
export class ContainerRuntime extends Runtime {
  readonly name = 'container'
  readonly features = features

  constructor(readonly options: ContainerOptions = {}) {
    super()
  }

  override async check(options: CallOptions = {}): Promise<RuntimeCheck> {
    return (await this.#containers()).check(options)
  }

  async start(source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    return (await this.#containers()).start(source, name, options)
  }

  async stop(name: string, options: CallOptions = {}): Promise<void> {
    await (await this.#containers()).stop(name, options)
  }

  async isReady(info: RuntimeInfo, options: CallOptions = {}): Promise<boolean> {
    return (await this.#containers()).isReady(info, { timeoutMs: 120_000, ...options })
  }

  async suspend(name: string, options: CallOptions = {}): Promise<void> {
    await (await this.#containers()).suspend(name, options)
  }

  async resume(_source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    return (await this.#containers()).resume(name, options)
  }

  async list(options: CallOptions = {}): Promise<readonly HeldSandbox[]> {
    return (await this.#containers()).list(options)
  }

  override async *logs(name: string, options: CallOptions & { follow?: boolean } = {}): AsyncIterable<string> {
    yield* (await this.#containers()).logs(name, options)
  }

  override async snapshot(name: string, options: CopyOptions & { name?: string } = {}): Promise<SavedSandbox> {
    return (await this.#containers()).snapshot(name, options)
  }

  override async restore(name: string, snapshot: SavedSandbox, options: CallOptions = {}): Promise<RuntimeInfo> {
    return (await this.#containers()).restore(name, snapshot, options)
  }

  override listSnapshots(options: CallOptions = {}): Listing<SavedSandbox> {
    return listing(async () => (await this.#containers()).listSnapshots(options))
  }

  override async deleteSnapshot(id: string, options: CallOptions = {}): Promise<void> {
    await (await this.#containers()).deleteSnapshot(id, options)
  }

  async #containers(): Promise<Containers> {
    const { Containers } = await node('The runtime "container"', () => import('./container.ts'))
    return new Containers(features, this.options.host, this.options.build ?? {})
  }
}
