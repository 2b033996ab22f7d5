/**
 * A way to a computer server over TCP that fails as it is told: at the next request, or the next message of a WebSocket.
 * It notes what reached the server.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * What happens: the request is dropped with its connection, or swallowed; or it is passed on, and of the answer nothing, half of its
 * first piece or its beginning comes back before the connection ends.
 */
export type Fault = 'drops' | 'stalls' | 'loses' | 'halves' | 'cuts'

/** Bytes of an answer that come back before it is cut. */
const cutAfter = 100_000

export interface FaultyProxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** What reached the proxy since it was armed: request lines, and `message` for each of a WebSocket. */
  readonly asked: readonly string[]
  /** What of it was passed on. */
  readonly passed: readonly string[]
  /** The next request, or that after `others`, meets that; those after it meet nothing, but where it stalls they stall too. */
  arm(fault: Fault | undefined, others?: number): void
}

/** Starts one before the server at an address. */
export const faultyProxy = async (target: string): Promise<FaultyProxy> => {
  const { port: targetPort } = new URL(target)
  let fault: Fault | undefined
  let others = 0
  let asked: string[] = []
  let passed: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(targetPort), '127.0.0.1')
    let isSocket = false
    let met: Fault | undefined
    /** Bytes of the answer so far. */
    let answered = 0
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const each of [client, upstream]) {
      sockets.add(each)
      each.on('error', end)
      each.on('close', () => {
        sockets.delete(each)
        end()
      })
    }
    client.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1')
      const line = /^(GET|POST|PUT|DELETE) (\S+)/.exec(text)
      // A frame of a client is masked; the first byte of one with text is 0x81 (RFC 6455, 5.2).
      const request =
        line !== null ? `${line[1]} ${line[2]?.split('?')[0]}` : isSocket && bytes[0] === 0x81 ? 'message' : undefined
      const isHandshake = request === 'GET /ws' || request === 'GET /status'
      if (line !== null && /^upgrade: *websocket/im.test(text)) isSocket = true
      if (request !== undefined && !isHandshake) {
        asked.push(request)
        answered = 0
        met = asked.length > others ? fault : undefined
        if (met !== 'stalls' && met !== undefined) fault = undefined
      }
      if (met === 'drops') return end()
      if (met === 'stalls') return undefined
      if (request !== undefined && !isHandshake) passed.push(request)
      // The server knows itself by its own port.
      upstream.write(Buffer.from(text.replace(/^(host: 127\.0\.0\.1:)\d+/im, `$1${targetPort}`), 'latin1'))
      return undefined
    })
    upstream.on('data', (bytes: Buffer) => {
      const left = cutAfter - answered
      answered += bytes.byteLength
      if (met === 'loses') end()
      else if (met === 'cuts' && answered > cutAfter) client.end(bytes.subarray(0, Math.max(0, left)), end)
      else if (met === 'halves') client.end(bytes.subarray(0, Math.floor(bytes.byteLength / 2)), end)
      else client.write(bytes)
    })
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get asked() {
      return asked
    },
    get passed() {
      return passed
    },
    arm(next, after = 0) {
      fault = next
      others = after
      asked = []
      passed = []
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((settle) => server.close(() => settle()))
    },
  }
}
