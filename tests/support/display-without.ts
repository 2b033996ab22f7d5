/** A display as it is on an X server that lacks some extensions. */
import { connect, createServer } from 'node:net'

export interface LackingDisplay extends AsyncDisposable {
  /** Such as `127.0.0.1:31234`. */
  readonly display: string
}

/**
 * Gives a display of this machine once more, over TCP, without these extensions: a client that asks whether the server has
 * one is told that it has not, because the server is asked for another name (core protocol, QueryExtension).
 */
export const displayWithout = async (display: string, ...extensions: string[]): Promise<LackingDisplay> => {
  const socket = `/tmp/.X11-unix/X${/:(\d+)/.exec(display)?.[1]}`
  const proxy = createServer((client) => {
    const server = connect(socket)
    client.on('data', (chunk: Buffer) => server.write(withOtherNames(chunk, extensions)))
    server.pipe(client)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    display: `127.0.0.1:${port - 6000}`,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}

/** What a client sent, with the names of extensions in small letters, which no server knows. */
const withOtherNames = (sent: Buffer, extensions: readonly string[]): Buffer =>
  extensions.reduce((bytes, name) => {
    const at = bytes.indexOf(name)
    if (at >= 0) bytes.write(name.toLowerCase(), at)
    return bytes
  }, sent)
