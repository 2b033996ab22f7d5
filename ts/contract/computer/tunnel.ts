/**
 * One TCP connection over a WebSocket, as both of its ends do it. Binary messages are its bytes; text messages are JSON:
 * `{"type": "open"}` once the far end is connected, `{"type": "refused", "why": …}` where it is not, `{"type": "end"}` when one
 * side sends nothing more, and `{"type": "taken", "bytes": …}` when bytes have been passed on. No end sends more than
 * `tunnelWindowBytes` that were not taken, so that a slow reader slows the writer down and nothing piles up.
 */

/** Bytes that may be under way in one direction. */
export const tunnelWindowBytes = 1024 * 1024

/** What an end says. */
type TunnelMessage =
  | { readonly type: 'open' | 'end' }
  | { readonly type: 'refused'; readonly why: string }
  | { readonly type: 'taken'; readonly bytes: number }

/** The TCP connection, as `node:net` has it, which must allow to be half open. */
export interface TunnelledSocket {
  on(event: 'data', listener: (bytes: Uint8Array<ArrayBuffer>) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  write(bytes: Uint8Array, written: () => void): unknown
  pause(): unknown
  resume(): unknown
  end(): unknown
  destroy(): unknown
}

/** The WebSocket. */
export interface TunnelChannel {
  send(message: string | Uint8Array<ArrayBuffer>): void
  close(): void
}

/** What a text message says; undefined for one that is none of ours. */
export const tunnelOrder = (text: string): TunnelMessage | undefined => {
  try {
    const order = JSON.parse(text) as Partial<TunnelMessage> | null
    return typeof order?.type === 'string' ? (order as TunnelMessage) : undefined
  } catch {
    return undefined
  }
}

/** One end: passes on what comes from either side, no faster than the other takes it. */
export class TunnelEnd {
  /** Bytes that the other end still takes. */
  #credit = tunnelWindowBytes

  constructor(
    private readonly socket: TunnelledSocket,
    private readonly channel: TunnelChannel,
  ) {
    socket.on('data', (bytes) => {
      this.#send(bytes)
      this.#credit -= bytes.byteLength
      if (this.#credit <= 0) socket.pause()
    })
    socket.on('end', () => this.#tell({ type: 'end' }))
    socket.on('error', () => undefined)
    socket.on('close', () => channel.close())
  }

  /** Takes a message of the other end. */
  message(message: string | Uint8Array): void {
    if (typeof message !== 'string') {
      this.socket.write(message, () => this.#tell({ type: 'taken', bytes: message.byteLength }))
      return
    }
    const order = tunnelOrder(message)
    if (order?.type === 'end') this.socket.end()
    else if (order?.type === 'taken' && order.bytes > 0) {
      this.#credit += order.bytes
      if (this.#credit > 0) this.socket.resume()
    }
  }

  /** Ends the connection: the other end is gone. */
  closed(): void {
    this.socket.destroy()
  }

  #tell(order: TunnelMessage): void {
    this.#send(JSON.stringify(order))
  }

  #send(message: string | Uint8Array<ArrayBuffer>): void {
    try {
      this.channel.send(message)
    } catch {
      // It was closed meanwhile, which it tells by itself.
    }
  }
}
