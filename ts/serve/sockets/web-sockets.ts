/** The WebSockets of a server, each with a handler of its own. */

/** What is done with one WebSocket, which carries it as its data: a server of Bun's has one handler for all. */
export interface SocketHandler {
  open?(socket: WebSocketOfServer): void | Promise<void>
  message(socket: WebSocketOfServer, message: string | Buffer): void | Promise<void>
  /** What was sent has left, after a `send` that gave -1. */
  drain?(socket: WebSocketOfServer): void | Promise<void>
  close?(socket: WebSocketOfServer, code: number, reason: string): void | Promise<void>
}

/** The server's end of one. */
export type WebSocketOfServer = Bun.ServerWebSocket<SocketHandler>

/** Seconds in which a client answers a ping; one that does not is gone, and what it held is let go of. */
const silentSeconds = 30

/** What `Bun.serve` does with them; a longer message ends its socket. */
export const socketHandlers = (longestMessageBytes: number): Bun.WebSocketHandler<SocketHandler> => ({
  maxPayloadLength: longestMessageBytes,
  idleTimeout: silentSeconds,
  sendPings: true,
  open: (socket) => socket.data.open?.(socket),
  message: (socket, message) => socket.data.message(socket, message),
  drain: (socket) => socket.data.drain?.(socket),
  close: (socket, code, reason) => socket.data.close?.(socket, code, reason),
})

/**
 * Makes a WebSocket of a request; false where the request asks for none. Of `protocols` the first that the client names is
 * named back, as a browser wants it.
 */
export type UpgradeWebSocket = (request: Request, handler: SocketHandler, protocols?: readonly string[]) => boolean

/** Joins the WebSockets of a server. */
export const joinSockets =
  (server: Bun.Server<SocketHandler>): UpgradeWebSocket =>
  (request, data, protocols = []) => {
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return false
    const named = request.headers.get('sec-websocket-protocol')?.split(',') ?? []
    const chosen = named.map((name) => name.trim()).find((name) => protocols.includes(name))
    return server.upgrade(request, { data, headers: chosen === undefined ? {} : { 'Sec-WebSocket-Protocol': chosen } })
  }
