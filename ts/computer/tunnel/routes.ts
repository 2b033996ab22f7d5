/** `WS /tunnel?port=N`: one TCP connection to a port of the computer's own loopback; without a WebSocket, why there is none. */
import { connect, type Socket } from 'node:net'
import { TunnelEnd } from '@backlot/contract/computer/tunnel'
import { Failure } from '@backlot/contract/failure'
import type { BoundServer, SocketHandler } from '@backlot/serve'
import type { AnyElysia } from 'elysia'

/** Adds the route. */
export const tunnelRoutes = (app: AnyElysia, server: BoundServer): AnyElysia =>
  app.get('/tunnel', async ({ request }) => {
    const port = portIn(request)
    if (await isClosed()) throw new Failure('not_available', closed, { port })
    if (server.join(request, tunnelSocket(port))) return new Response()
    throw new Failure('not_a_socket', 'A tunnel is given to a WebSocket here; connect with one.')
  })

const closed =
  'This computer calls no port of its loopback, which it shares with its host (level "landlock"): what listens there is reached from the host at 127.0.0.1.'

let found: Promise<boolean> | undefined

/** Whether Landlock keeps this process from ports of loopback: it answers before anybody is called. */
const isClosed = (): Promise<boolean> => {
  found ??= new Promise((settle) => {
    const tried = connect({ host: '127.0.0.1', port: 1 })
    tried.once('error', ({ code }: NodeJS.ErrnoException) => settle(code === 'EACCES'))
    tried.once('connect', () => {
      tried.destroy()
      settle(false)
    })
  })
  return found
}

/** The port in the query of a request. Throws `invalid_argument`. */
const portIn = (request: Request): number => {
  const text = new URL(request.url).searchParams.get('port') ?? ''
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw new Failure('invalid_argument', `"port" is "${text}"; it takes a number from 1 to 65535.`, { argument: 'port' })
}

/** Handles one: connects when the WebSocket opens, and says how that went. */
const tunnelSocket = (port: number): SocketHandler => {
  let socket: Socket | undefined
  let end: TunnelEnd | undefined
  return {
    open(channel) {
      // What listens on the name of the machine's loopback may do so in either family.
      const opened = connect({ host: 'localhost', port, allowHalfOpen: true, autoSelectFamily: true })
      socket = opened
      const refuse = (error: Error) => {
        channel.send(JSON.stringify({ type: 'refused', why: (error as NodeJS.ErrnoException).code ?? error.message }))
        channel.close(1000, 'nothing listens')
      }
      opened.once('error', refuse)
      opened.once('connect', () => {
        opened.removeListener('error', refuse)
        channel.send(JSON.stringify({ type: 'open' }))
        end = new TunnelEnd(opened, {
          send: (message) => void channel.send(message),
          close: () => channel.close(1000, 'the connection has ended'),
        })
      })
    },
    message(_, message) {
      end?.message(typeof message === 'string' ? message : new Uint8Array(message))
    },
    close() {
      end?.closed()
      socket?.destroy()
    },
  }
}
