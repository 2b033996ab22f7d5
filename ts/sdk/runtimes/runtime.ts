/** What starts sandboxes. */
import type { CallOptions, Fields, Listing } from '../basics.ts'
import { UnsupportedError } from '../errors.ts'
import type {
  CopyOptions,
  SandboxOptions,
  SandboxStatus,
  SavedSandbox,
  Source,
  WarmPoolInfo,
  WarmPoolOptions,
} from '../sandbox/options.ts'
import { HTTPTransport } from '../transports/http.ts'
import type { Transport } from '../transports/transport.ts'
import { type RuntimeCheck, type RuntimeFeatures, reasonAgainst } from './features.ts'
import type { RuntimeInfo } from './runtime-info.ts'

/** What a runtime learns of a sandbox that it starts. */
export interface StartOptions extends SandboxOptions {
  /** It shall end with this program: a runtime that can, binds it to this process, and lets go of it in `keep`. @default false */
  readonly ephemeral?: boolean
}

/** What a runtime holds under a name. */
export type HeldSandbox = { readonly name: string; readonly status: SandboxStatus } & Fields

/** What starts sandboxes; what is not abstract throws `unsupported` unless overridden, and is then declared in `features`. */
export abstract class Runtime {
  /** The key that is stored with each sandbox. */
  abstract readonly name: string
  /** What it can do where it has all it needs. */
  abstract readonly features: RuntimeFeatures

  /** Starts a sandbox and says how to reach it. */
  abstract start(source: Source, name: string, options?: StartOptions): Promise<RuntimeInfo>

  /** Ends a sandbox and frees all it has, its disk too; one that is gone already is fine. */
  abstract stop(name: string, options?: CallOptions): Promise<void>

  /** Whether the computer server answers within `timeoutMs` (120_000). */
  abstract isReady(info: RuntimeInfo, options?: CallOptions): Promise<boolean>

  /** Stops a sandbox and saves it. */
  abstract suspend(name: string, options?: CallOptions): Promise<void>

  /** Continues a suspended sandbox. */
  abstract resume(source: Source, name: string, options?: SandboxOptions): Promise<RuntimeInfo>

  /** The sandboxes that it holds. */
  abstract list(options?: CallOptions): Promise<readonly HeldSandbox[]>

  /**
   * What another program needs to find its sandboxes, as JSON: it is stored with each of them, and the runtime of the table is made
   * again out of it. Keys and passwords are no part of it. @default {}
   */
  settings(): Fields {
    return {}
  }

  /** Lets an ephemeral sandbox stay that `start` bound to this program; nothing where it binds none. */
  async keep(_name: string, _options?: CallOptions): Promise<void> {}

  /** Available, with the declared features, unless overridden. */
  async check(_options?: CallOptions): Promise<RuntimeCheck> {
    return { available: true, features: this.features }
  }

  /** By HTTP, unless overridden. */
  transport(info: RuntimeInfo): Transport {
    const url = `http://${info.host.includes(':') ? `[${info.host}]` : info.host}:${info.apiPort}`
    return new HTTPTransport(url, info.apiKey === undefined ? {} : { apiKey: info.apiKey })
  }

  /** The lines of a sandbox's log. */
  logs(_name: string, _options?: CallOptions & { follow?: boolean }): AsyncIterable<string> {
    throw this.#refusal('logs', undefined)
  }

  /** Copies a running sandbox under new names. */
  async fork(_name: string, _forks: readonly string[], _options?: CopyOptions): Promise<readonly RuntimeInfo[]> {
    throw this.#refusal('fork', this.features.fork)
  }

  /** Saves a running sandbox. */
  async snapshot(_name: string, _options?: CopyOptions & { name?: string }): Promise<SavedSandbox> {
    throw this.#refusal('snapshot', this.features.snapshot)
  }

  /** Puts a sandbox back. */
  async restore(_name: string, _snapshot: SavedSandbox, _options?: CallOptions): Promise<RuntimeInfo> {
    throw this.#refusal('restore', this.features.snapshot)
  }

  /** The snapshots that it holds. */
  listSnapshots(_options?: CallOptions): Listing<SavedSandbox> {
    throw this.#refusal('listSnapshots', this.features.snapshot)
  }

  /** Deletes a snapshot. */
  async deleteSnapshot(_id: string, _options?: CallOptions): Promise<void> {
    throw this.#refusal('deleteSnapshot', this.features.snapshot)
  }

  /** Makes or changes a pool; size 0 ends it. */
  async applyPool(_source: Source, _options: WarmPoolOptions): Promise<void> {
    throw this.#refusal('applyPool', this.features.pool)
  }

  /** The pools that it holds. */
  listPools(_options?: CallOptions): Listing<WarmPoolInfo> {
    throw this.#refusal('listPools', this.features.pool)
  }

  /** Takes a ready sandbox out of a pool. */
  async claim(_pool: string, _name: string, _options?: CallOptions): Promise<RuntimeInfo> {
    throw this.#refusal('claim', this.features.pool)
  }

  /** Why a verb that nobody wrote is refused: for the declared reason, where there is one. */
  #refusal(verb: string, declared: Parameters<typeof reasonAgainst>[0]): UnsupportedError {
    const reason = reasonAgainst(declared) ?? `The runtime "${this.name}" has no "${verb}"; use a runtime that has.`
    return new UnsupportedError(reason, { data: { runtime: this.name, verb } })
  }
}
