/** A connection to the local adb server: bytes in both directions, read as they are needed. */

import { connect, type Socket } from 'node:net'
import { Failure } from '@backlot/contract/failure'
import type { Variables } from '@backlot/contract/places'

/** Where the adb server listens, as `ADB_SERVER_SOCKET` says it. */
export type AdbAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/** The port of the adb server where nothing names another. */
const usualPort = 5_037

/**
 * The address of the adb server, read off the variables that adb's own client reads: `ADB_SERVER_SOCKET` (`tcp:HOST:PORT`,
 * `tcp:PORT` or `localfilesystem:PATH`) and `ANDROID_ADB_SERVER_PORT`. Throws `invalid_argument`.
 */
export const adbAddressOf = (env: Variables): AdbAddress => {
  const socket = env.ADB_SERVER_SOCKET ?? `tcp:${env.ANDROID_ADB_SERVER_PORT ?? usualPort}`
  const [, path] = /^localfilesystem:(.+)$/.exec(socket) ?? []
  if (path !== undefined) return { path }
  const [, host = '127.0.0.1', port = ''] = /^tcp:(?:([^:]+):)?(\d{1,5})$/.exec(socket) ?? []
  if (Number(port) >= 1 && Number(port) <= 65_535) return { host, port: Number(port) }
  const text = `"${socket}" is no address of an adb server; ADB_SERVER_SOCKET takes tcp:HOST:PORT or localfilesystem:PATH.`
  throw new Failure('invalid_argument', text, { argument: 'ADB_SERVER_SOCKET' })
}

/** The address as people read it. */
export const shownAddress = (address: AdbAddress): string =>
  'path' in address ? address.path : `${address.host}:${address.port}`

/** One connection; closing it twice is fine. */
export class Connection implements Disposable {
  readonly #come: Buffer[] = []
  #hasEnded = false
  #wake: (() => void) | undefined

  private constructor(readonly socket: Socket) {
    socket.on('data', this.#take)
    for (const event of ['end', 'close', 'error'] as const) socket.on(event, this.#end)
  }

  /** Opens one. Throws `device_failed` where no adb server listens. */
  static async open(address: AdbAddress): Promise<Connection> {
    const socket = connect({ ...address, allowHalfOpen: true })
    const opened = Promise.withResolvers<void>()
    socket.once('connect', opened.resolve)
    socket.once('error', opened.reject)
    try {
      await opened.promise
    } catch (error) {
      socket.destroy()
      const { code } = error as NodeJS.ErrnoException
      const text = `No adb server answers at ${shownAddress(address)} (${code}); \`adb start-server\` starts one.`
      throw new Failure('device_failed', text)
    }
    return new Connection(socket)
  }

  /** Whether nothing more comes. */
  get hasEnded(): boolean {
    return this.#hasEnded && this.#come.length === 0
  }

  /** The next bytes, as many as came at once; undefined at the end. One reader at a time. */
  async some(): Promise<Buffer | undefined> {
    while (this.#come.length === 0 && !this.#hasEnded) {
      this.socket.resume()
      await new Promise<void>((settle) => {
        this.#wake = settle
      })
    }
    return this.#come.shift()
  }

  /** Exactly so many bytes. Throws `device_failed` where the connection ends before. */
  async exactly(count: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let missing = count; missing > 0; ) {
      const bytes = await this.some()
      if (bytes === undefined) throw new Failure('device_failed', 'The device or its adb server went away.')
      parts.push(bytes.subarray(0, missing))
      if (bytes.byteLength > missing) this.#come.unshift(bytes.subarray(missing))
      missing -= Math.min(missing, bytes.byteLength)
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }

  /** Sends bytes; settles when more may be sent. What is sent after the end is lost: whoever reads is told. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.socket.destroyed || this.socket.write(bytes)) return
    await new Promise<void>((settle) => {
      const done = () => {
        for (const event of ['drain', 'close'] as const) this.socket.off(event, done)
        settle()
      }
      for (const event of ['drain', 'close'] as const) this.socket.on(event, done)
    })
  }

  /** Gives the socket to another reader, with what has come and was not read. */
  release(): Socket {
    this.socket.off('data', this.#take)
    this.socket.pause()
    if (this.#come.length > 0) this.socket.unshift(Buffer.concat(this.#come.splice(0)))
    return this.socket
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
    this.#end()
  }

  readonly #take = (bytes: Buffer): void => {
    this.#come.push(bytes)
    // What is not read yet slows the sender down.
    this.socket.pause()
    this.#wake?.()
  }

  readonly #end = (): void => {
    this.#hasEnded = true
    this.#wake?.()
  }
}
