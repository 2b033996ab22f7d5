/** What holds sandboxes: this machine, or a cloud. Each can do everything, or refuses it with the reason. */
import type { CallOptions } from '../basics.ts'
import type { Resources } from '../runtimes/features.ts'
import type { DisplayUrlOptions, Transport } from '../transports/transport.ts'
import type { CopyOptions, SandboxInfo, SandboxOptions, SavedSandbox, Source } from './options.ts'

/** A sandbox that is reached. */
export interface ConnectedSandbox {
  readonly name: string
  /** The runtime's key, or `cloud`. */
  readonly source: string
  /** Tells this sandbox from others that had or will have its name; `null` where nothing does. */
  readonly id: string | null
  /** Whether it ends with the scope or program of whoever holds it. */
  readonly ephemeral: boolean
  /** Whether it is an Android device; its server is asked where that is not known. */
  readonly isAndroid: boolean | undefined
  /** Connected. */
  readonly transport: Transport
  readonly provider: Provider
}

/** A sandbox by name, and by its id where a particular one is meant. */
export interface SandboxReference {
  readonly name: string
  readonly id: string | null
}

/** The verbs of sandboxes. */
export interface Provider {
  create(source: Source, options: SandboxOptions, ephemeral: boolean): Promise<ConnectedSandbox>
  connect(name: string, options: CallOptions & Resources): Promise<ConnectedSandbox>
  /** Newest first. */
  list(options: CallOptions): Promise<SandboxInfo[]>
  getInfo(named: SandboxReference, options: CallOptions): Promise<SandboxInfo>
  suspend(named: SandboxReference, options: CallOptions): Promise<void>
  resume(named: SandboxReference, options: CallOptions): Promise<ConnectedSandbox>
  restart(named: SandboxReference, options: CallOptions): Promise<ConnectedSandbox>
  delete(named: SandboxReference, options: CallOptions): Promise<void>
  logs(name: string, options: CallOptions & { follow?: boolean }): AsyncIterable<string>
  fork(named: SandboxReference, count: number, options: CopyOptions): Promise<ConnectedSandbox[]>
  snapshot(named: SandboxReference, options: CopyOptions & { name?: string }): Promise<SavedSandbox>
  restore(named: SandboxReference, snapshot: SavedSandbox, options: CallOptions): Promise<ConnectedSandbox>
  keep(named: SandboxReference, options: CallOptions): Promise<void>
  setTtl(named: SandboxReference, ttlMs: number | null, options: CallOptions): Promise<void>
  /** Ends an ephemeral sandbox, unless somebody made it stay. */
  release(named: SandboxReference, options: CallOptions): Promise<void>
  getDisplayUrl(held: ConnectedSandbox, options: DisplayUrlOptions): Promise<string>
}
