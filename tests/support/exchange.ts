/** Requests as the bytes that they are, and answers as the bytes that came. */
import { connect } from 'node:net'

/** Where a server listens. */
export type ServerAt = { readonly port: number } | { readonly path: string }

/** What a request may have beside its first line. */
export interface Sent {
  /** Of headers of the same name each is sent. */
  readonly headers?: readonly string[]
  readonly body?: string
  /** When the answer, as far as it has come, is all that is waited for; a whole one otherwise. */
  isEnough?(answer: string): boolean
}

/** Sends the request and gives the answer; empty where the server closes the connection without one. */
export const exchange = (at: ServerAt, line: string, { headers = [], body, isEnough }: Sent = {}): Promise<string> => {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const bytes = `${[`${line} HTTP/1.1`, ...headers, ...length].join('\r\n')}\r\n\r\n${body ?? ''}`
  const isOver = isEnough ?? ((answer: string) => isWhole(answer, line.startsWith('HEAD ')))
  return new Promise((settle, fail) => {
    const parts: Buffer[] = []
    const answer = () => Buffer.concat(parts).toString()
    const socket = connect('port' in at ? { host: '127.0.0.1', port: at.port } : { path: at.path }, () =>
      socket.write(bytes),
    )
    const finish = () => {
      socket.destroy()
      settle(answer())
    }
    socket.on('data', (part: Buffer) => {
      parts.push(part)
      if (isOver(answer())) finish()
    })
    socket.on('end', finish)
    socket.on('error', fail)
  })
}

/** Whether all of an answer is there (RFC 9112, 6.3). */
const isWhole = (answer: string, isHead: boolean): boolean => {
  const end = answer.indexOf('\r\n\r\n')
  if (end < 0) return false
  const head = answer.slice(0, end)
  if (isHead || /^HTTP\/1\.1 (1\d\d|204|304) /.test(head)) return true
  const body = answer.slice(end + 4)
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  if (length !== undefined) return Buffer.byteLength(body) >= Number(length)
  return /^transfer-encoding: chunked$/im.test(head) && body.endsWith('0\r\n\r\n')
}
