/** A port of this machine that leads to a Unix socket, for programs that know HTTP over TCP only. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Where it is, and what a request must carry. */
export interface Loopback {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  close(): void
}

/** Opens one on 127.0.0.1, for whoever holds its key: a port is every user's. It does not keep this program from ending. */
export const openLoopback = async (socketPath: string): Promise<Loopback> => {
  const shown = `Bearer ${randomBytes(32).toString('base64url')}`
  const isShownBy = (given = ''): boolean =>
    given.length === shown.length && timingSafeEqual(Buffer.from(given), Buffer.from(shown))
  const server = createServer((asked, answer) => {
    const { authorization, ...others } = asked.headers
    if (!isShownBy(authorization) || others.origin !== undefined) {
      answer.writeHead(401).end()
      return
    }
    const headers = { ...others, host: 'localhost' }
    const sent = request({ socketPath, method: asked.method, path: asked.url, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    })
    sent.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()))
    answer.on('close', () => sent.destroy())
    asked.pipe(sent)
  })
  await new Promise<void>((settle, refuse) => {
    server.once('error', refuse)
    server.listen(0, '127.0.0.1', settle)
  })
  server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers: { Authorization: shown },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
