/** Writes to a socket that may be slow: what it does not take now waits, in order. */
import type { Socket } from 'bun'

/** The waiting bytes of one socket. */
export class Outbox {
  #waiting: Uint8Array[] = []
  #waitingBytes = 0

  constructor(private readonly socket: Pick<Socket<unknown>, 'write'>) {}

  /** Bytes that the socket has not taken yet. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Sends `text` after all that was sent before. */
  send(text: string): void {
    const bytes = Buffer.from(text)
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waiting.length === 1) this.drain()
  }

  /** Writes what the socket takes now; call it when the socket says `drain`. */
  drain(): void {
    for (let bytes = this.#waiting[0]; bytes !== undefined; bytes = this.#waiting[0]) {
      const written = this.socket.write(bytes)
      if (written < 0) {
        this.clear()
        return
      }
      this.#waitingBytes -= written
      if (written < bytes.length) {
        this.#waiting[0] = bytes.subarray(written)
        return
      }
      this.#waiting.shift()
    }
  }

  /** Forgets what waits, because nobody reads it any more. */
  clear(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }
}
