/** The screen of a device as a live film: H.264 of the device's own encoder, which `screenrecord` writes. */
import { filmLimits as limits } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import { type LiveFilmPart, Remuxer } from '@backlot/native'
import { Broadcast, type FilmSource } from '../../film/broadcast.ts'
import { liveRoute } from '../../film/live-route.ts'
import type { Replaceable } from '../../replaceable.ts'
import type { RouteGroup } from '../../route-group.ts'
import type { Connection } from './adb/connection.ts'
import { nextPacket, packet, type ShellPacket } from './adb/shell-packets.ts'
import type { AndroidDevice } from './device.ts'

/** Milliseconds without a byte after which the last picture counts as whole: the next one tells it else. */
const pauseMs = 100

/**
 * The input of the line ends with the connection, and the encoder is ended then: it would go on until it writes again, which it
 * does not while nothing changes. Nothing else may hold the input, or its end is not told. The encoder ends by itself after three
 * minutes, and is begun anew.
 */
const line = [
  'exec 3<&0',
  'screenrecord --output-format=h264 --bit-rate 8000000 - </dev/null 3<&- &',
  'recorder=$!',
  '(read -r nothing <&3; kill -HUP $recorder) >/dev/null 2>&1 &',
  'watcher=$!',
  'exec 3<&-',
  'wait $recorder',
  'status=$?',
  'kill $watcher',
  'exit $status',
].join('\n')

/** The live film of a device, and what ends it. Films in files are not made of one. */
export const deviceFilmRoutes = (current: Replaceable<AndroidDevice>): RouteGroup & AsyncDisposable => {
  const broadcast = new Broadcast(async () => new DeviceFilm(await current.get()))
  return {
    features: () => ({}),
    routes: liveRoute(current, broadcast),
    [Symbol.asyncDispose]: () => broadcast[Symbol.asyncDispose](),
  }
}

/** One for all who look on. */
class DeviceFilm implements FilmSource {
  readonly #remuxer = new Remuxer(limits.fps)
  readonly #parts: LiveFilmPart[] = []
  #connection: Connection | undefined
  #coming: Promise<ShellPacket> | undefined
  #said = ''
  /** Whether the encoder that runs has given a picture. */
  #hasShown = false
  #isClosed = false

  constructor(private readonly device: AndroidDevice) {}

  /** The next picture; null when it is closed. Throws `device_failed` with what the device says. */
  async next(): Promise<LiveFilmPart | null> {
    for (;;) {
      const part = this.#parts.shift()
      if (this.#isClosed) return null
      if (part !== undefined) return part
      this.#parts.push(...(await this.#more()))
    }
  }

  /** An encoder begins with a picture that needs no other. */
  refresh(): void {
    if (this.#hasShown) this.#endEncoder()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#endEncoder()
  }

  #endEncoder(): void {
    this.#connection?.[Symbol.dispose]()
    this.#connection = undefined
    this.#coming = undefined
    this.#hasShown = false
    this.#said = ''
    this.#remuxer.begin_anew()
  }

  /** The pictures that come next, or none yet. */
  async #more(): Promise<LiveFilmPart[]> {
    const connection = await this.#encoder()
    this.#coming ??= nextPacket(connection)
    const coming = this.#coming
    const come = await orPause(coming).catch((error: unknown) => {
      if (this.#connection === connection && !this.#isClosed) throw error
      return undefined
    })
    // It was ended meanwhile.
    if (this.#connection !== connection) return []
    if (come === undefined) return this.#shown(this.#remuxer.flush())
    this.#coming = undefined
    const { id, bytes } = come
    if (id === packet.stdout) return this.#shown(this.#remuxer.feed(bytes))
    if (id === packet.stderr) this.#said = `${this.#said}${bytes}`.slice(-300)
    if (id !== packet.exit) return []
    const last = this.#shown(this.#remuxer.flush())
    if (!this.#hasShown) {
      const why = this.#said.trim() || `it ended with ${bytes[0]}`
      throw new Failure('device_failed', `screenrecord gives no picture of the device: ${why}.`)
    }
    this.#endEncoder()
    return last
  }

  #shown(parts: LiveFilmPart[]): LiveFilmPart[] {
    if (parts.length > 0) this.#hasShown = true
    return parts
  }

  async #encoder(): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection
    const connection = await this.device.adb.open(`shell,v2,raw:${line}`)
    if (this.#isClosed) connection[Symbol.dispose]()
    this.#connection = connection
    return connection
  }
}

/** What comes, or undefined after a pause. */
const orPause = <T>(coming: Promise<T>): Promise<T | undefined> => {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>()
  const timer = setTimeout(() => resolve(undefined), pauseMs)
  coming.then(resolve, reject).finally(() => clearTimeout(timer))
  return promise
}
