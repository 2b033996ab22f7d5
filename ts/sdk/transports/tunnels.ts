/** Tunnels through a computer server. */
import type { CallOptions } from '../basics.ts'
import { pause, timeoutOf, withDeadline } from '../deadline.ts'
import { BacklotError, invalidArgument, TimeoutError } from '../errors.ts'
import type { LocalTunnel } from '../local/tunnel.ts'
import { node } from '../node.ts'
import type { Routes } from './routes.ts'

/** A TCP port, or the name of an Android abstract socket. */
export type TunnelTarget = number | string

/** Both ends of a tunnel; `url` is `http://HOST:PORT`. */
export interface TunnelInfo {
  readonly host: string
  readonly port: number
  readonly sandboxPort: TunnelTarget
  readonly url: string
}

/** How a tunnel is opened. */
export interface TunnelOptions extends CallOptions {
  /** Port of its end here. @default a free one */
  port?: number
  /** Whether to wait until something listens inside. @default false */
  wait?: boolean
}

/** Milliseconds between two looks at whether something listens. */
const pollIntervalMs = 200

/** The open tunnels of one transport. */
export class TunnelSet {
  readonly #open = new Map<TunnelInfo, LocalTunnel>()

  constructor(private readonly routes: Routes) {}

  /** Opens one. Throws `invalid_argument`, `unsupported`, `not_ready` under `wait`, and what a lost server means. */
  async forward(target: TunnelTarget, options: TunnelOptions = {}): Promise<TunnelInfo> {
    const wanted = typeof target === 'string' ? socketOf(target) : portOf(target, 'sandboxPort', 1)
    const port = portOf(options.port ?? 0, 'port', 0)
    const { openFarEnd, openLocalTunnel, NothingListens } = await node('A tunnel', () => import('../local/tunnel.ts'))
    if (!options.wait) {
      await withDeadline(options, 'The look at the computer', (signal) => this.#refuseWhereClosed(wanted, signal))
    } else {
      const timeoutMs = timeoutOf(options)
      const notReady = new TimeoutError(
        'not_ready',
        `Nothing listens at ${typeof wanted === 'string' ? `the socket "${wanted}"` : `port ${wanted}`} of the computer after ${timeoutMs} ms; start it, or allow more with "timeoutMs".`,
        { data: typeof wanted === 'string' ? { socket: wanted } : { port: wanted } },
      )
      await withDeadline(options, 'Waiting for the port', async (signal) => {
        await this.#refuseWhereClosed(wanted, signal)
        for (;;) {
          const isThere = await openFarEnd(this.routes, wanted, signal).then(
            (end) => {
              end.close()
              return true
            },
            (error: unknown) => {
              if (error instanceof NothingListens) return false
              throw error
            },
          )
          if (isThere) return
          await pause(pollIntervalMs, signal)
        }
      }).catch((error: unknown) => {
        throw error instanceof TimeoutError && error.code === 'timeout' ? notReady : error
      })
    }
    const opened = await openLocalTunnel(this.routes, wanted, port).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
      throw invalidArgument('port', `Port ${port} is not free here (${error.code}); leave it out.`)
    })
    const info = { host: '127.0.0.1', port: opened.port, sandboxPort: wanted, url: `http://127.0.0.1:${opened.port}` }
    this.#open.set(info, opened)
    return info
  }

  /** Asks whether tunnels lead into the computer at all; what else may be wrong is told by who connects. */
  async #refuseWhereClosed(target: TunnelTarget, signal: AbortSignal): Promise<void> {
    if (typeof target === 'string') return
    await this.routes.fetch('/tunnel', { query: { port: target }, signal }).catch((error: unknown) => {
      signal.throwIfAborted()
      if (BacklotError.is(error) && error.code === 'unsupported') throw error
    })
  }

  /** Closes one; a second time does nothing. */
  async close(info: TunnelInfo): Promise<void> {
    const opened = [...this.#open].find(([each]) => each === info || each.port === info.port)
    if (opened === undefined) return
    this.#open.delete(opened[0])
    await opened[1].close()
  }

  /** Closes all. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((info) => this.close(info)))
  }
}

/** The name of an abstract socket, of which the kernel takes 107 bytes. */
const socketOf = (name: string): string => {
  const bytes = new TextEncoder().encode(name).byteLength
  if (bytes >= 1 && bytes <= 107 && !name.includes('\0')) return name
  throw invalidArgument('sandboxPort', `"${name}" is no name of a socket: it has 1 to 107 bytes.`)
}

const portOf = (port: number, argument: string, least: number): number => {
  if (Number.isInteger(port) && port >= least && port <= 65_535) return port
  throw invalidArgument(argument, `"${argument}" is ${port}; it takes a port from ${least} to 65535.`)
}
