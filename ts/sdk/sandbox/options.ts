/** What a sandbox starts from, what it shall be, and what is known of it. */
import type { CallOptions, OsType } from '../basics.ts'
import type { Image } from '../image/image.ts'
import type { Layer } from '../image/layer.ts'
import type { Isolation, Resources } from '../runtimes/features.ts'

/** What a snapshot is: an instance of `Snapshot`, or what a runtime of your own gives as one. */
export interface SavedSandbox {
  readonly id: string
  readonly name: string | null
  readonly sizeBytes: number
  /** Name of the sandbox that it is of. */
  readonly sandbox: string
  /** The runtime's key, or `cloud`. */
  readonly source: string
  /** Whether programs go on from it. */
  readonly memory: boolean
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** Deletes it, to no harm of the sandboxes made from it. */
  delete(options?: CallOptions): Promise<void>
}

/** What a sandbox starts from. */
export type Source = Image | SavedSandbox

/** What a sandbox reaches; the host's own loopback only by `allow`, which takes `HOST`, `HOST:PORT` and CIDR. */
export type Network = 'none' | 'loopback' | 'internet' | { readonly allow: readonly string[] }

/** A folder of the host that the sandbox sees; writable unless `readOnly`. */
export interface Mount {
  readonly hostPath: string
  readonly path: string
  readonly readOnly?: boolean
}

/** How far the start of a sandbox is. */
export type Progress =
  | { readonly phase: 'download'; readonly bytes: number; readonly totalBytes: number | null }
  | { readonly phase: 'layer'; readonly index: number; readonly count: number; readonly layer: Layer }
  | { readonly phase: 'note'; readonly message: string }
  | { readonly phase: 'boot'; readonly message: string; readonly percent: number | null }

/** What a sandbox shall be; `timeoutMs` (120_000) is for its start, fetching and building aside. */
export interface SandboxOptions extends CallOptions, Resources {
  /** 1 to 63 of `a-z`, `0-9`, `-`; throws `sandbox_exists` if taken. @default two words and a number */
  name?: string
  /** @default [] */
  mounts?: readonly Mount[]
  /** @default 'internet' */
  network?: Network
  /**
   * Milliseconds after which it ends by itself: at once where a program that uses this package still has it open, else when
   * the next one lists, creates or looks for sandboxes. @default never
   */
  ttlMs?: number
  /** Pairs to find it by. @default {} */
  labels?: Readonly<Record<string, string>>
  /** Refuses rather than differ from what is asked, for instance in its distribution. @default false */
  strict?: boolean
  /** Called while the image is fetched and built and the sandbox starts. */
  onProgress?: (progress: Progress) => void
}

/** With its running programs, unless `memory` is false; throws `unsupported` with the reason where that cannot be. */
export interface CopyOptions extends CallOptions {
  memory?: boolean
}

/** What a pool holds, and how many of it. */
export interface WarmPoolOptions extends Omit<SandboxOptions, 'name' | 'ttlMs'> {
  name: string
  size: number
}

/** How full a pool is. */
export interface WarmPoolInfo {
  readonly name: string
  readonly size: number
  readonly ready: number
  readonly starting: number
}

/** The state of a sandbox. */
export type SandboxStatus = 'running' | 'suspended' | 'stopped' | 'provisioning'

/** What is known of a sandbox, `null` where nobody can tell; times are ISO 8601 in UTC. */
export interface SandboxInfo {
  readonly name: string
  readonly status: SandboxStatus
  /** The runtime's key, or `cloud`. */
  readonly source: string
  readonly osType: OsType | null
  readonly host: string | null
  readonly vncUrl: string | null
  readonly apiUrl: string | null
  readonly createdAt: string | null
  /** `null`: it does not end by itself. */
  readonly expiresAt: string | null
  readonly ephemeral: boolean
  readonly isolation: Isolation | null
  readonly labels: Readonly<Record<string, string>>
  /** What differs from what was asked, in sentences: another distribution, limits that are not enforced. */
  readonly warnings: readonly string[]
}
