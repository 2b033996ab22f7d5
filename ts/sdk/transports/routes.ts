/** What a computer server serves beside its commands: files, terminals, films, tunnels, and commands that stream. */
import type { Fields } from '../basics.ts'

/** One request. */
export interface RouteRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: Fields
  /** Sent as it is. */
  readonly body?: Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>
  /** Ends the request, and the answer while it is read. */
  readonly signal: AbortSignal
}

/** One connection that carries messages. */
export interface RouteSocket {
  /** Bytes that wait to be sent. */
  readonly bufferedBytes: number
  send(message: string | Uint8Array<ArrayBuffer>): void
  close(): void
}

/** Hears of a connection; `closed` is called once, also where it never opened. */
export interface SocketListener {
  message(message: string | Uint8Array<ArrayBuffer>): void
  closed(reason: string): void
}

/** A way to all that a server serves. */
export interface Routes {
  /** How the server is named in errors. */
  readonly name: string
  /** The address of its root, such as `http://127.0.0.1:8000`, and what each request must carry, for other programs here. */
  address(signal: AbortSignal): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>
  /** Sends a request, and gives an answer whose status says success; any other is thrown as the error it stands for. */
  fetch(path: string, request: RouteRequest): Promise<Response>
  /** Opens a WebSocket. */
  open(path: string, listener: SocketListener, signal: AbortSignal): Promise<RouteSocket>
}

/** Where a transport keeps them. */
export const routes: unique symbol = Symbol('routes')
