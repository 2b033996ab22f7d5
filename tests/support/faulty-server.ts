/**
 * A web server with one file that changes, over TCP itself: it cuts, stalls, and says of lengths and validators what no
 * server should. What it never does is what nobody could notice: to give two contents one strong validator, or one
 * content the beginning of another with a length that fits.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** What a server makes of a request. */
export interface Faults {
  /** How likely each is, from 0 to 1. */
  readonly cut: number
  readonly stall: number
  readonly change: number
  readonly strange: number
}

/** Nothing goes wrong. */
export const faultless: Faults = { cut: 0, stall: 0, change: 0, strange: 0 }

/** How a server tells one content from another. */
export const validators = ['etag', 'weak', 'modified', 'both', 'none'] as const

/** How it says where an answer ends; `closed` does so by the end of the connection alone. */
export const framings = ['length', 'chunked', 'closed'] as const

/** What a server is like, as long as it lives. */
export interface Habits {
  readonly validator: (typeof validators)[number]
  readonly framing: (typeof framings)[number]
  /** `If-Range` is minded, or every range is served; or none is. */
  readonly ranges: 'minded' | 'unminded' | 'none'
  /** Most bytes of a range that it gives at once. */
  readonly longest: number
}

/** Strange answers: each is a wrong one to its request. */
const strange = ['same', 'unsatisfiable', 'other range', 'too long', 'busy', 'no validator', 'nothing'] as const

const chance = (of: number): boolean => Math.random() < of

const pick = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)] as T

/** Bytes of a block that begins with the number of its content and its own. */
const block = 4096

/** Content number `version`: each block of it says what it is of. */
export const contentOf = (version: number, bytes: number): Buffer => {
  const content = Buffer.alloc(bytes, version % 251)
  for (let at = 0; at + 8 <= bytes; at += block) {
    content.writeUInt32LE(version, at)
    content.writeUInt32LE(at, at + 4)
  }
  return content
}

/** Starts a server with those habits; the file is at `url`. */
export const serveFaultily = async (habits: Habits) => {
  let version = 0
  let bytes = contentOf(0, sizeOf())
  // A date is of one content alone only where seconds lie between two.
  let modified = Date.parse('2020-01-01T00:00:00Z')
  const state = {
    faults: faultless as Faults,
    requests: 0,
    /** Every content that it had. */
    versions: [bytes],
    change() {
      version += 1
      modified += 5_000
      bytes = contentOf(version, sizeOf())
      state.versions.push(bytes)
    },
  }

  const answer = async (socket: Socket, headers: ReadonlyMap<string, string>) => {
    const { faults } = state
    state.requests += 1
    if (chance(faults.change)) state.change()
    const now = bytes
    const etag = `"${version}"`
    const date = new Date(modified).toUTCString()
    const ownValidators = [
      ...(['etag', 'both'].includes(habits.validator) ? [`ETag: ${etag}`] : []),
      ...(habits.validator === 'weak' ? [`ETag: W/${etag}`] : []),
      ...(['modified', 'both'].includes(habits.validator) ? [`Last-Modified: ${date}`] : []),
    ]
    const known = [etag, date]
    const oddity = chance(faults.strange) ? pick(strange) : undefined
    if (oddity === 'nothing') return socket.destroy()
    if (oddity === 'busy') return end(socket, ['503 Service Unavailable'])
    const condition = headers.get('if-none-match') ?? headers.get('if-modified-since')
    const isSame = condition !== undefined && known.includes(condition)
    // One who asked no such thing is told that its content is the same.
    const wronglySame = oddity === 'same' && condition === undefined
    if (isSame || wronglySame) return end(socket, ['304 Not Modified', ...ownValidators])
    if (oddity === 'unsatisfiable') {
      return end(socket, ['416 Range Not Satisfiable', `Content-Range: bytes */${now.length}`])
    }
    const asked = /^bytes=(\d+)-$/.exec(headers.get('range') ?? '')?.[1]
    const ifRange = headers.get('if-range')
    const isMinded = habits.ranges === 'unminded' || ifRange === undefined || known.includes(ifRange)
    const isRange = habits.ranges !== 'none' && asked !== undefined && isMinded
    const wantedStart = isRange ? Number(asked) : 0
    if (wantedStart >= now.length && isRange) {
      return end(socket, ['416 Range Not Satisfiable', `Content-Range: bytes */${now.length}`])
    }
    const isOther = oddity === 'other range'
    const start = isOther ? Math.floor(wantedStart / 2) : wantedStart
    const stop = isRange ? Math.min(now.length, start + habits.longest) : now.length
    const body = now.subarray(start, stop)
    const isPartial = isRange || isOther
    const range = `Content-Range: bytes ${start}-${stop - 1}/${chance(0.2) ? '*' : now.length}`
    const framing = oddity === 'too long' ? 'length' : habits.framing
    const lengthSaid = body.length + (oddity === 'too long' ? 1000 : 0)
    const isChunked = framing === 'chunked'
    socket.write(
      head([
        isPartial ? '206 Partial Content' : '200 OK',
        ...(oddity === 'no validator' ? [] : ownValidators),
        ...(isPartial ? [range] : []),
        ...(isChunked ? ['Transfer-Encoding: chunked'] : []),
        ...(framing === 'length' ? [`Content-Length: ${lengthSaid}`] : []),
      ]),
    )
    const limit = chance(faults.cut) ? Math.floor(Math.random() * body.length) : Number.POSITIVE_INFINITY
    const stall = chance(faults.stall) ? Math.floor(Math.random() * body.length) : Number.POSITIVE_INFINITY
    for (let at = 0; at < body.length; at += piece) {
      if (at + piece > stall) return // It says nothing more, and holds the connection.
      const part = body.subarray(at, Math.min(at + piece, limit))
      const written = isChunked ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, crlf]) : part
      if (part.length > 0 && !socket.write(written)) {
        await new Promise((settle) => socket.once('drain', settle).once('close', settle))
      }
      if (at + piece > limit) return chance(0.5) ? socket.end() : socket.resetAndDestroy()
      await Bun.sleep(Math.random() * 5)
    }
    return socket.end(isChunked ? '0\r\n\r\n' : '')
  }

  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
      if (!text.includes('\r\n\r\n')) return
      const lines = text.split('\r\n').slice(1)
      text = ''
      const pairs = lines.map((line) => /^([^:]+): *(.*)$/.exec(line)).filter((pair) => pair !== null)
      void answer(socket, new Map(pairs.map(([, name = '', value = '']) => [name.toLowerCase(), value])))
    })
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/disk.raw`,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
}

export type FaultyServer = Awaited<ReturnType<typeof serveFaultily>>

const piece = 128 * 1024

const crlf = Buffer.from('\r\n')

/** Between one and two MiB, and no whole number of anything. */
const sizeOf = (): number => 2 ** 20 + Math.floor(Math.random() * 2 ** 11) * 512

const head = ([status = '', ...headers]: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, `Date: ${new Date().toUTCString()}`, 'Connection: close', ...headers, '', ''].join('\r\n')

const end = (socket: Socket, headers: readonly string[]) => socket.end(head([...headers, 'Content-Length: 0']))
