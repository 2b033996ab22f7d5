/**
 * The daemon's socket protocol: one JSON object on a line, each way. Requests with an `id` run at once and are answered
 * as they finish; requests without one are answered in the order they came. Unknown fields are ignored.
 */
import type { PauseState } from '@backlot/native/pause-switch'
import type { ToolResult } from '../tool/result.ts'
import type { Access } from './access.ts'

/** What a request may ask for. */
export type Method =
  | 'hello'
  | 'call'
  | 'cancel'
  | 'list'
  | 'describe'
  | 'session_begin'
  | 'session_end'
  | 'status'
  | 'pause'
  | 'resume'
  | 'shutdown'

/** One line from a client. */
export interface Request {
  readonly id?: string | number
  readonly method: Method
  /** The tool, for `call` and `describe`. */
  readonly name?: string
  /** The tool's arguments, for `call`. */
  readonly args?: unknown
  /** The session: of a `call` that names none in its arguments; to be declared or ended with `session_begin` and `session_end`. */
  readonly session_id?: unknown
  /** The `id` of the request to end, for `cancel`. */
  readonly cancel?: string | number
  /** What the client expects, for `hello`: on a mismatch the daemon answers `daemon_mismatch` and hangs up. */
  readonly expect?: Identity
  /** For `shutdown`: only where nobody needs the daemon; the answer's `ending` says whether it ends. */
  readonly only_idle?: boolean
  /** For `hello`: the connection is one of many short ones, which share one agent instead of having their own. */
  readonly anonymous?: boolean
}

/** One line from the daemon; a failed tool call carries its whole result too. */
export type Reply =
  | { readonly id?: string | number; readonly ok: true; readonly result: unknown }
  | {
      readonly id?: string | number
      readonly ok: false
      /** What is wrong, and the next step. */
      readonly error: string
      readonly code: string
      /** Exit code of the shell form. */
      readonly exit_code: number
      readonly data?: Readonly<Record<string, unknown>>
      readonly result?: ToolResult
    }

/** What a client and its daemon must agree on. */
export interface Identity {
  readonly version: string
  /** The X display, `:N`; empty when there is none. */
  readonly display: string
  /** Address of the session bus; empty when there is none. */
  readonly bus: string
}

/** The answer to `hello`. */
export interface Greeting extends Identity {
  readonly pid: number
  readonly access: Access
}

/** The answer to `status`. */
export interface Status extends Identity, PauseState {
  readonly running: true
  readonly pid: number
  readonly socket: string
  /** RFC 3339. */
  readonly started_at: string
  /** Seconds without a connection after which it ends; 0 when it stays. */
  readonly idle_timeout_s: number
  /** Open connections, the asking one included. */
  readonly connections: number
  /** Tool calls since it started. */
  readonly calls: number
  /** Names of the sessions that are active. */
  readonly sessions: readonly string[]
  /** Those of the calls that are not answered yet. */
  readonly calls_under_way: number
  readonly read_only: boolean
  readonly allow: readonly string[] | null
}
