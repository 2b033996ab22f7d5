/** The end of a tunnel on this machine: a port of 127.0.0.1, each of whose connections is carried by a WebSocket. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TunnelEnd, tunnelOrder } from '@backlot/contract/computer/tunnel'
import type { RouteSocket, Routes, SocketListener } from '../transports/routes.ts'

/** An open one. */
export interface LocalTunnel {
  readonly port: number
  close(): Promise<void>
}

/** Opens a port, any free one for 0, that leads to a port or an abstract socket of the computer. */
export const openLocalTunnel = async (routes: Routes, target: number | string, port: number): Promise<LocalTunnel> => {
  const ending = new AbortController()
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    carry(routes, target, socket, ending.signal).catch(() => socket.resetAndDestroy())
  })
  await new Promise<void>((settle, refuse) => {
    server.once('error', refuse)
    server.listen(port, '127.0.0.1', settle)
  })
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      ending.abort(new Error('the tunnel was closed'))
      const closed = new Promise<void>((settle) => server.close(() => settle()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Carries one connection, once the far end is connected. Throws why it is not. */
const carry = async (routes: Routes, target: number | string, socket: Socket, signal: AbortSignal): Promise<void> => {
  const left = new AbortController()
  socket.once('close', () => left.abort(new Error('the connection was closed')))
  const channel = await openFarEnd(routes, target, AbortSignal.any([signal, left.signal]))
  const end = new TunnelEnd(socket, channel)
  channel.follow(end)
  socket.resume()
}

/** A connection into the computer. */
export interface FarEnd extends RouteSocket {
  /** Passes on what comes from now on. */
  follow(end: Follower): void
}

type Follower = Pick<TunnelEnd, 'message' | 'closed'>

/** What comes from the far end: its first message says whether it is connected, and the others wait for who follows. */
class Incoming implements SocketListener {
  /** Settles when the far end is connected; throws why it is not. */
  readonly connected: Promise<void>
  refuse: (error: Error) => void = () => {}
  #open = () => {}
  #hasBegun = false
  #isOver = false
  #follower: Follower | undefined
  readonly #early: (string | Uint8Array)[] = []

  constructor() {
    this.connected = new Promise<void>((settle, refuse) => {
      this.#open = settle
      this.refuse = refuse
    })
    this.connected.catch(() => undefined)
  }

  message(message: string | Uint8Array) {
    if (this.#follower !== undefined) return this.#follower.message(message)
    if (this.#hasBegun) return void this.#early.push(message)
    const order = typeof message === 'string' ? tunnelOrder(message) : undefined
    this.#hasBegun = order?.type === 'open'
    if (this.#hasBegun) this.#open()
    else this.refuse(new NothingListens(order?.type === 'refused' ? order.why : 'it speaks otherwise'))
  }

  closed(reason: string): void {
    this.#isOver = true
    this.refuse(new NothingListens(reason))
    this.#follower?.closed()
  }

  follow(follower: Follower): void {
    this.#follower = follower
    for (const message of this.#early.splice(0)) follower.message(message)
    if (this.#isOver) follower.closed()
  }
}

/** Connects into the computer. Throws why nothing answers there: the code of the system, such as ECONNREFUSED. */
export const openFarEnd = async (routes: Routes, target: number | string, signal: AbortSignal): Promise<FarEnd> => {
  const incoming = new Incoming()
  const kind = typeof target === 'string' ? 'socket' : 'port'
  const socket = await routes.open(`/tunnel?${kind}=${encodeURIComponent(target)}`, incoming, signal)
  const leave = () => {
    incoming.refuse(signal.reason)
    socket.close()
  }
  signal.addEventListener('abort', leave, { once: true })
  const close = () => {
    signal.removeEventListener('abort', leave)
    socket.close()
  }
  try {
    await incoming.connected
  } catch (error) {
    close()
    throw error
  }
  return {
    get bufferedBytes() {
      return socket.bufferedBytes
    },
    send: (message) => socket.send(message),
    close,
    follow: (end) => incoming.follow(end),
  }
}

/** Nothing answers there. */
export class NothingListens extends Error {}
