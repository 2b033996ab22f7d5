/** The emulator that a device runs in, by gRPC: requests over HTTP/2, each message after a byte and its length in four bytes. */
import { type ClientHttp2Session, connect } from 'node:http2'
import { Failure } from '@backlot/contract/failure'
import { advertisedBy, type EmulatorEndpoint } from './advertisement.ts'
import { empty } from './messages.ts'

const service = '/android.emulation.control.EmulatorController'

/** Milliseconds after which an emulator that answers nothing counts as hanging. */
const mostMs = 10_000

/** Bytes before each message. */
const headLength = 5

/** One emulator; disposing of it closes the connection. */
export class Emulator implements Disposable {
  #session: ClientHttp2Session | undefined
  #runs: Promise<boolean> | undefined

  constructor(private readonly serial: string | undefined) {}

  /** Whether this device has one that answers, which is tried once. */
  runs(): Promise<boolean> {
    this.#runs ??= this.call('getStatus', empty).then(
      () => true,
      () => false,
    )
    return this.#runs
  }

  /** Sends one message and gives the answer's. Throws `device_failed`. */
  async call(method: string, message: Uint8Array): Promise<Buffer> {
    const where = advertisedBy(this.serial, process.env)
    if (where === undefined) throw new Failure('device_failed', 'No emulator of this machine serves gRPC.')
    return this.#ask(where, method, message)
  }

  [Symbol.dispose](): void {
    this.#session?.destroy()
  }

  #ask({ port, token }: EmulatorEndpoint, method: string, message: Uint8Array): Promise<Buffer> {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(`http://127.0.0.1:${port}`)
      // Each request tells of it.
      this.#session.on('error', () => undefined)
    }
    const head = Buffer.alloc(headLength)
    head.writeUInt32BE(message.byteLength, 1)
    const request = this.#session.request({
      ':method': 'POST',
      ':path': `${service}/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    })
    const parts: Buffer[] = []
    const failed = (why: string) => new Failure('device_failed', `The emulator has refused "${method}": ${why}.`)
    return new Promise((settle, refuse) => {
      const late = setTimeout(() => request.destroy(failed(`no answer in ${mostMs} ms`)), mostMs)
      let status: unknown
      let why: unknown
      const note = (headers: Readonly<Record<string, unknown>>) => {
        status = headers['grpc-status'] ?? status
        why = headers['grpc-message'] ?? why
      }
      request.on('response', note)
      request.on('trailers', note)
      request.on('data', (piece: Buffer) => parts.push(piece))
      request.once('error', (error: Error) => refuse(Failure.from(error)))
      request.once('close', () => {
        clearTimeout(late)
        if (String(status) === '0') settle(Buffer.concat(parts).subarray(headLength))
        else refuse(failed(String(why ?? `status ${status ?? 'unknown'}`)))
      })
      request.end(Buffer.concat([head, message]))
    })
  }
}
