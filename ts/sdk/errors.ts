/** The errors that calls throw: one class for each kind, one code for each cause. */
import type { CommandResult, Fields } from './basics.ts'
import type { Layer } from './image/layer.ts'

/** Marks our errors, those of other copies of this package included. */
const mark = Symbol.for('backlot.error')

/** What an error may hold beside code and message. */
export interface ErrorDetails {
  readonly data?: Fields
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** What all errors have; `message` names the thing and ends with the next step, `data` holds the facts. */
export abstract class BacklotError<Code extends string = string> extends Error {
  readonly code: Code
  readonly data: Fields
  /** Whether the same call may succeed later, and cannot do anything twice. */
  readonly retryable: boolean

  constructor(code: Code, message: string, { data = {}, retryable = false, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.code = code
    this.data = data
    this.retryable = retryable
    Object.defineProperty(this, mark, { value: true })
  }

  /** Whether a value is one of ours, of whichever copy of this package; its `code` then tells its class. */
  static is(value: unknown): value is SdkError {
    return typeof value === 'object' && value !== null && mark in value
  }
}

/** An argument is wrong, and nothing was sent. */
export class InvalidArgumentError extends BacklotError<'invalid_argument' | 'unknown_key' | 'layer_not_for_os'> {}

/** The error of an argument that its caller gave, by name; `more` goes into `data` beside the name. */
export const invalidArgument = (argument: string, text: string, more: Fields = {}): InvalidArgumentError =>
  new InvalidArgumentError('invalid_argument', text, { data: { argument, ...more } })

/** The runtime, transport or platform cannot do it, for a reason. */
export class UnsupportedError extends BacklotError<'unsupported'> {
  readonly reason: string

  constructor(reason: string, details: ErrorDetails = {}) {
    super('unsupported', reason, details)
    this.reason = reason
  }
}

/** There is no such thing. */
export class NotFoundError extends BacklotError<`${'sandbox' | 'snapshot' | 'pool' | 'image' | 'file' | 'app' | 'window' | 'pty'}_not_found`> {}

/** The thing is in a state in which that cannot be. */
export class ConflictError extends BacklotError<
  | 'sandbox_exists'
  | 'sandbox_not_running'
  | 'sandbox_busy'
  | 'state_unusable'
  | 'file_exists'
  | 'folder_not_empty'
  | 'permission_denied'
  | 'paused_by_person'
> {}

/** What is to do it is not there; the message says how to get it. */
export class UnavailableError extends BacklotError<
  'executable_not_found' | 'runtime_unavailable' | 'cloud_not_configured' | 'server_incompatible'
> {}

/** There is no key, or it is refused. */
export class AuthenticationError extends BacklotError<'no_api_key' | 'unauthorized'> {}

/** The server is not reached, or was lost: what it did by then is not known. */
export class ConnectionError extends BacklotError<'unreachable' | 'connection_lost' | 'invalid_response'> {}

/** It took longer than allowed; `output` is what a command had written by then. */
export class TimeoutError extends BacklotError<'timeout' | 'not_ready' | 'command_timeout' | 'login_timeout'> {
  readonly output: Omit<CommandResult, 'exitCode'> | null

  constructor(
    code: 'timeout' | 'not_ready' | 'command_timeout' | 'login_timeout',
    message: string,
    { output = null, ...details }: ErrorDetails & { readonly output?: Omit<CommandResult, 'exitCode'> | null } = {},
  ) {
    super(code, message, details)
    this.output = output
  }
}

/** A command ended with a code other than 0, under `check`. */
export class CommandError extends BacklotError<'command_failed'> implements CommandResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number

  constructor(message: string, { stdout, stderr, exitCode }: CommandResult) {
    super('command_failed', message, { data: { exitCode } })
    this.stdout = stdout
    this.stderr = stderr
    this.exitCode = exitCode
  }
}

/** A layer of an image failed. */
export class LayerError extends BacklotError<'layer_failed'> {
  readonly index: number
  readonly layer: Layer
  readonly result: CommandResult

  constructor(message: string, failed: { index: number; layer: Layer; result: CommandResult; cause?: unknown }) {
    const { index, result, cause } = failed
    super('layer_failed', message, { data: { index, exitCode: result.exitCode }, cause })
    this.index = failed.index
    this.layer = failed.layer
    this.result = failed.result
  }
}

/** There is not enough of something; `retryAfterMs` is the server's advice. */
export class ResourceError extends BacklotError<'host_memory' | 'disk_full' | 'quota_exceeded' | 'rate_limited'> {
  readonly retryAfterMs: number | null

  constructor(
    code: 'host_memory' | 'disk_full' | 'quota_exceeded' | 'rate_limited',
    message: string,
    { retryAfterMs = null, ...details }: ErrorDetails & { readonly retryAfterMs?: number | null } = {},
  ) {
    super(code, message, details)
    this.retryAfterMs = retryAfterMs
  }
}

/** The computer took a command and could not carry it out. */
export class ActionError extends BacklotError<
  | 'launch_failed'
  | 'text_not_typable'
  | 'input_unavailable'
  | 'display_unavailable'
  | 'display_lost'
  | 'capture_failed'
  | 'clipboard_timeout'
  | 'window_manager_refused'
  | 'accessibility_unavailable'
  | 'download_failed'
  | 'internal'
> {}

/** Every error there is; `switch (error.code)` tells them apart. */
export type SdkError =
  | InvalidArgumentError
  | UnsupportedError
  | NotFoundError
  | ConflictError
  | UnavailableError
  | AuthenticationError
  | ConnectionError
  | TimeoutError
  | CommandError
  | LayerError
  | ResourceError
  | ActionError

/** Every code there is. */
export type ErrorCode = SdkError['code']
