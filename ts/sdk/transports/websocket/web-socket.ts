/**
 * WebSockets: the runtime's own where it has them, else those of the package `ws`, which Node 20 needs and which is loaded
 * only then.
 */
import { orAborted } from '../../deadline.ts'
import { node } from '../../node.ts'
import { connectionLost, unreachable } from '../loss.ts'
import type { RouteSocket, SocketListener } from '../routes.ts'

/** What all of them have. */
interface AnySocket {
  binaryType: string
  readonly bufferedAmount: number
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(code?: number): void
  /** Beyond the standard. */
  terminate?(): void
  addEventListener(type: string, listener: (event: never) => void): void
}

type SocketClass = new (url: string, options: { headers: Readonly<Record<string, string>> }) => AnySocket

const own = (globalThis as { WebSocket?: unknown }).WebSocket

const make = async (url: string, headers: Readonly<Record<string, string>>): Promise<AnySocket> => {
  if (own !== undefined) {
    if (Object.keys(headers).length === 0) return new (own as new (url: string) => AnySocket)(url)
    // A browser's takes no headers, and protocols in their place; commands show the key in their first message.
    return node('A WebSocket with a key', async () => new (own as SocketClass)(url, { headers }))
  }
  const { WebSocket } = await import('ws')
  return new WebSocket(url, { headers, maxPayload: 0 }) as unknown as AnySocket
}

/** Milliseconds in which the other side takes leave. */
const leaveMs = 1_000

/** Closes one, whose other side may keep silent: then it is broken off, where that can be done. */
const end = (socket: AnySocket): void => {
  socket.close()
  const timer = setTimeout(() => socket.terminate?.(), leaveMs)
  socket.addEventListener('close', () => clearTimeout(timer))
}

/** Hands what comes to the listener; settles when the socket opens, and throws `unreachable` where it does not. */
const follow = (
  socket: AnySocket,
  url: string,
  listener: SocketListener,
  state: { isOpen: boolean; isOver: boolean },
): Promise<void> =>
  new Promise((settle, refuse) => {
    let failure = ''
    socket.addEventListener('open', () => {
      state.isOpen = true
      settle()
    })
    socket.addEventListener('message', ({ data }: { data: string | ArrayBuffer }) => {
      if (!state.isOver) listener.message(typeof data === 'string' ? data : new Uint8Array(data))
    })
    socket.addEventListener('error', ({ message, error }: { message?: string; error?: { code?: string } }) => {
      failure = error?.code ?? message ?? ''
    })
    socket.addEventListener('close', ({ code, reason }: { code: number; reason: string }) => {
      if (state.isOver) return
      state.isOver = true
      const why = reason || failure || `closed with code ${code}`
      if (state.isOpen) listener.closed(why)
      else refuse(unreachable(url, why))
    })
  })

/** Opens one; throws `unreachable` where it does not open. */
export const openWebSocket = async (
  url: string,
  headers: Readonly<Record<string, string>>,
  listener: SocketListener,
  signal: AbortSignal,
): Promise<RouteSocket> => {
  signal.throwIfAborted()
  const socket = await make(url, headers)
  socket.binaryType = 'arraybuffer'
  const state = { isOpen: false, isOver: false }
  const opened = follow(socket, url, listener, state)
  try {
    await orAborted(signal, opened)
  } catch (error) {
    state.isOver = true
    end(socket)
    throw error
  }
  return {
    get bufferedBytes() {
      return socket.bufferedAmount
    },
    send(message) {
      if (state.isOver) throw connectionLost(url, 'it is closed')
      socket.send(message)
    },
    close: () => end(socket),
  }
}
