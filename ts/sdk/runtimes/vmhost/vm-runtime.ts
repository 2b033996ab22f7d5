/** What the runtimes have in common whose sandboxes are VMs of a host: `vmhost` and `qemu`. */
import type { CallOptions, Listing } from '../../basics.ts'
import { node } from '../../node.ts'
import { listing } from '../../sandbox/listing.ts'
import type {
  CopyOptions,
  SandboxOptions,
  SavedSandbox,
  Source,
  WarmPoolInfo,
  WarmPoolOptions,
} from '../../sandbox/options.ts'
import type { RuntimeFeatures } from '../features.ts'
import { type HeldSandbox, Runtime } from '../runtime.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import type { Vms } from './vms.ts'

/** What VMs on QEMU can do. */
export const features: RuntimeFeatures = {
  os: ['linux', 'windows'],
  kinds: ['vm'],
  isolation: 'vm',
  suspend: 'memory',
  fork: 'memory',
  snapshot: 'memory',
  pool: true,
  display: true,
  tunnel: true,
  mounts: { unsupported: 'Folders of the host are not shared with VMs; use `files.upload`.' },
  network: ['internet'],
  resources: ['cpu', 'memoryMb', 'diskGb'],
}

/** VMs of a host. */
export abstract class VmRuntime extends Runtime {
  readonly features = features

  /** The host's VMs; one that can be started is started. */
  protected abstract vms(options: CallOptions): Promise<Vms>

  async start(source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    return (await this.vms(options)).start(source, name, options)
  }

  async stop(name: string, options: CallOptions = {}): Promise<void> {
    await (await this.vms(options)).stop(name, options)
  }

  async isReady(info: RuntimeInfo, options: CallOptions = {}): Promise<boolean> {
    return (await this.vms(options)).isReady(info, options)
  }

  async suspend(name: string, options: CallOptions = {}): Promise<void> {
    await (await this.vms(options)).suspend(name, options)
  }

  async resume(_source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    return (await this.vms(options)).resume(name, options)
  }

  async list(options: CallOptions = {}): Promise<readonly HeldSandbox[]> {
    return (await this.vms(options)).list(options)
  }

  override async *logs(name: string, options: CallOptions & { follow?: boolean } = {}): AsyncIterable<string> {
    yield* (await this.vms(options)).logs(name, options)
  }

  override async fork(name: string, forks: readonly string[], options: CopyOptions = {}): Promise<RuntimeInfo[]> {
    return (await this.vms(options)).fork(name, forks, options)
  }

  override async snapshot(name: string, options: CopyOptions & { name?: string } = {}): Promise<SavedSandbox> {
    return (await this.vms(options)).snapshot(name, options)
  }

  override async restore(name: string, snapshot: SavedSandbox, options: CallOptions = {}): Promise<RuntimeInfo> {
    return (await this.vms(options)).restore(name, snapshot, options)
  }

  override async applyPool(source: Source, options: WarmPoolOptions): Promise<void> {
    await (await this.vms(options)).applyPool(source, options)
  }

  override listPools(options: CallOptions = {}): Listing<WarmPoolInfo> {
    return listing(async () => {
      const { keptPools } = await node(`The runtime "${this.name}"`, () => import('./pool-records.ts'))
      // A host is not started to say that there are none.
      const hasAny = (await keptPools()).some(({ runtime }) => runtime === this.name)
      return hasAny ? (await this.vms(options)).listPools(options) : []
    })
  }

  override async claim(pool: string, name: string, options: CallOptions = {}): Promise<RuntimeInfo> {
    return (await this.vms(options)).claim(pool, name, options)
  }

  override listSnapshots(options: CallOptions = {}): Listing<SavedSandbox> {
    return listing(async () => (await this.vms(options)).listSnapshots(options))
  }

  override async deleteSnapshot(id: string, options: CallOptions = {}): Promise<void> {
    await (await this.vms(options)).deleteSnapshot(id, options)
  }
}
