/** What calls of every part accept and give. */

/** Milliseconds that a call may take where nothing else is said. */
export const usualTimeoutMs = 30_000

/** What every call that waits for a server accepts. */
export interface CallOptions {
  /** Cancels the call; what had been sent by then may still happen. */
  signal?: AbortSignal
  /** Milliseconds until the call throws `TimeoutError`. @default 30_000 */
  timeoutMs?: number
}

/** Bytes that the caller owns. */
export type Bytes = Uint8Array<ArrayBuffer>

/** What a file, or the input of a command, is written from. */
export type Content = string | Uint8Array | Blob | ReadableStream<Uint8Array>

/** A size in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** A position in pixels. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** A list: awaited, it is whole; iterated with `for await`, it is fetched page by page. */
export interface Listing<T> extends PromiseLike<T[]>, AsyncIterable<T> {}

/** Facts by name. */
export type Fields = Readonly<Record<string, unknown>>

/** The operating system inside. */
export type OsType = 'linux' | 'macos' | 'windows' | 'android'

/** What an image runs as. */
export type ImageKind = 'vm' | 'container'

/** What a computer says it is to an agent; Android says `linux`. */
export type Environment = 'windows' | 'mac' | 'linux' | 'browser'

/** How a command ended; `exitCode` is 128 + n after signal n. */
export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}
