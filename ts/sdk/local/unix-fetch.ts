/** Requests over a Unix socket: Bun's `fetch` has them, that of Node has not. */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import type { Fetch } from '../transports/http-routes.ts'

/** What sends requests to the server on a socket, and lets go of it. */
export interface UnixFetch {
  readonly fetch: Fetch
  close(): void
}

/** Sends requests over connections that are kept for the next ones. */
export const unixFetch = (socketPath: string): UnixFetch =>
  process.versions.bun === undefined ? ofNode(socketPath) : ofBun(socketPath)

/** Its connections are let go when the server ends. */
const ofBun = (unix: string): UnixFetch => ({
  fetch: (url, init) => fetch(url, { ...init, unix } as RequestInit),
  close: () => undefined,
})

const ofNode = (socketPath: string): UnixFetch => {
  const agent = new Agent({ keepAlive: true })
  return {
    async fetch(url, { method = 'GET', headers, body, signal }) {
      const { pathname, search } = new URL(url)
      const options = { socketPath, agent, method, path: pathname + search, signal: signal ?? undefined }
      const message = await new Promise<IncomingMessage>((settle, refuse) => {
        const sent = request({ ...options, headers: { ...(headers as Record<string, string>), Host: 'localhost' } })
        sent.on('response', settle)
        sent.on('error', refuse)
        sendBody(sent, body).catch((error: unknown) => sent.destroy(error as Error))
      })
      const status = message.statusCode ?? 0
      const mayHaveBody = status !== 204 && status !== 304
      return new Response(mayHaveBody ? (Readable.toWeb(message) as ReadableStream<Uint8Array<ArrayBuffer>>) : null, {
        status,
        headers: headersOf(message),
      })
    },
    close: () => agent.destroy(),
  }
}

const sendBody = async (sent: ClientRequest, body: RequestInit['body']): Promise<void> => {
  if (body === undefined || body === null) return void sent.end()
  if (typeof body === 'string' || body instanceof Uint8Array) return void sent.end(body)
  const stream = body instanceof Blob ? body.stream() : (body as ReadableStream<Uint8Array>)
  for await (const piece of Readable.fromWeb(stream as never)) {
    if (!sent.write(piece)) await new Promise((settle) => sent.once('drain', settle).once('close', settle))
    if (sent.destroyed) return
  }
  sent.end()
}

const headersOf = ({ headers }: IncomingMessage): Headers => {
  const given = new Headers()
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) given.set(name, String(value))
  return given
}
