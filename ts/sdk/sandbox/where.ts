/** Where sandboxes are. */
import type { CallOptions } from '../basics.ts'
import type { Resources } from '../runtimes/features.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { RuntimeName } from '../runtimes/table.ts'
import type { Transport } from '../transports/transport.ts'
import type { SandboxOptions, SandboxStatus } from './options.ts'

/** What starts sandboxes: a key of `runtimes`, the cloud, or a runtime with settings. */
export type RuntimeChoice = RuntimeName | 'cloud' | Runtime

/**
 * Where sandboxes are. Unset: what `configure` says; else, for `create` and `list`, the cloud if there is a key and this machine if
 * not (said once on stderr where a cloud is named), and for a name, this machine if it knows the name and the cloud if not.
 */
export type Where =
  | { runtime?: RuntimeChoice; local?: never; apiKey?: never; region?: never }
  | { local: true; runtime?: RuntimeName | Runtime; apiKey?: never; region?: never }
  | CloudOptions

/** The cloud, with what it alone needs. */
export interface CloudOptions {
  runtime?: 'cloud'
  local?: false
  /** @default the key of `configure`, then of `login`, then `BACKLOT_API_KEY` */
  apiKey?: string
  /** @default 'us-east-1' */
  region?: string
}

/** A computer server that is there already, or a way to one. */
export type Address =
  | { httpUrl: string; wsUrl?: never; transport?: never; apiKey?: string; containerName?: string }
  | { wsUrl: string; httpUrl?: never; transport?: never; apiKey?: string; containerName?: string }
  | { transport: Transport; httpUrl?: never; wsUrl?: never }

/** What calls by a sandbox's name accept. */
export type LookupOptions = CallOptions & Where

/** What `create` and `ephemeral` accept. */
export type CreateOptions = SandboxOptions & Where

/** Sizes are compared with the sandbox's, never changed: another one is refused with `invalid_argument`. */
export type ConnectOptions = CallOptions & Resources & (Where | Address)

/** Those in one state and with all these labels, all unless given; `pageSize` (100) is how many one request fetches. */
export type ListOptions = LookupOptions & {
  status?: SandboxStatus
  labels?: Readonly<Record<string, string>>
  pageSize?: number
}
