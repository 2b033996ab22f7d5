/** The end of a tunnel on this machine: a port of 127.0.0.1, each of whose connections is carried by a WebSocket. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TunnelEnd, tunnelOrder } from '@backlot/contract/computer/tunnel'
import type { RouteSocket, Routes } from '../transports/routes.ts'

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
  follow(end: Pick<TunnelEnd, 'message' | 'closed'>): void
}

/** Connects into the computer. Throws why nothing answers there: the code of the system, such as ECONNREFUSED. */
export const openFarEnd = async (routes: Routes, target: number | string, signal: AbortSignal): Promise<FarEnd> => {
  let follower: Pick<TunnelEnd, 'message' | 'closed'> | undefined
  let isOver = false
  const early: (string | Uint8Array)[] = []
  let opened = () => {}
  let refused = (_: Error) => {}
  const isOpen = new Promise<void>((settle, refuse) => {
    opened = settle
    refused = refuse
  })
  isOpen.catch(() => undefined)
  let hasBegun = false
  const listener = {
    message(message: string | Uint8Array) {
      if (follower !== undefined) return follower.message(message)
      if (hasBegun) return void early.push(message)
      const order = typeof message === 'string' ? tunnelOrder(message) : undefined
      hasBegun = order?.type === 'open'
      if (hasBegun) opened()
      else refused(new NothingListens(order?.type === 'refused' ? order.why : 'it speaks otherwise'))
    },
    closed(reason: string) {
      isOver = true
      refused(new NothingListens(reason))
      follower?.closed()
    },
  }
  const socket = await routes.open(
    `/tunnel?${typeof target === 'string' ? 'socket' : 'port'}=${encodeURIComponent(target)}`,
    listener,
    signal,
  )
  const leave = () => {
    refused(signal.reason)
    socket.close()
  }
  signal.addEventListener('abort', leave, { once: true })
  try {
    await isOpen
  } catch (error) {
    signal.removeEventListener('abort', leave)
    socket.close()
    throw error
  }
  return {
    get bufferedBytes() {
      return socket.bufferedBytes
    },
    send: (message) => socket.send(message),
    close() {
      signal.removeEventListener('abort', leave)
      socket.close()
    },
    follow(end) {
      follower = end
      for (const message of early.splice(0)) end.message(message)
      if (isOver) end.closed()
    },
  }
}

/** Nothing answers there. */
export class NothingListens extends Error {}
