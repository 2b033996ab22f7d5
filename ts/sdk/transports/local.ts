/** Commands for this very machine. */
import type { CallOptions, Fields } from '../basics.ts'
import { orAborted, withDeadline } from '../deadline.ts'
import { UnsupportedError } from '../errors.ts'
import type { LocalServer } from '../local/child.ts'
import type { Loopback } from '../local/loopback.ts'
import { node } from '../node.ts'
import { postCommand } from './frame.ts'
import { HttpRoutes } from './http-routes.ts'
import { disconnected } from './loss.ts'
import { isRead, retrying } from './retry.ts'
import type { RouteRequest, Routes } from './routes.ts'
import { routes } from './routes.ts'
import { Transport } from './transport.ts'

/** Which display is operated. */
export interface LocalTransportOptions {
  /** Such as `:0`. @default the one of the environment */
  display?: string
}

interface Opened {
  readonly server: LocalServer
  readonly routes: HttpRoutes
  /** Opens a way in for other programs, once. */
  address(): Promise<Loopback>
  close(): Promise<void>
}

/**
 * A `backlot computer` process on this machine, which lives as long as the connection, and no longer than this program. It
 * starts with the first command. Its socket is this user's alone.
 */
export class LocalTransport extends Transport {
  readonly #display: string | undefined
  #opened: Promise<Opened> | undefined
  #isClosed = false
  readonly #routes: Routes

  constructor(options: LocalTransportOptions = {}) {
    super()
    this.#display = options.display
    this.#routes = {
      name: here,
      address: async (signal) => (await this.#open(signal)).address(),
      fetch: async (path: string, request: RouteRequest) =>
        (await this.#open(request.signal)).routes.fetch(path, request),
      open: async () => {
        throw new UnsupportedError('On this machine no tunnel is needed: reach its ports at 127.0.0.1.')
      },
    }
  }

  async connect(options?: CallOptions): Promise<void> {
    this.#isClosed = false
    await withDeadline(options, 'Starting "backlot computer"', (signal) => this.#open(signal))
  }

  async disconnect(): Promise<void> {
    this.#isClosed = true
    const opened = this.#opened
    this.#opened = undefined
    await opened?.then(
      (each) => each.close(),
      () => undefined,
    )
  }

  protected request(action: string, params: Fields, options: CallOptions = {}): Promise<Fields> {
    const signal = options.signal ?? new AbortController().signal
    return retrying(isRead(action), signal, async () => {
      const opened = await this.#open(signal)
      return postCommand(opened.routes, here, action, params, signal)
    })
  }

  override get [routes](): Routes {
    return this.#routes
  }

  override async forwardTunnel(sandboxPort: number | string): Promise<never> {
    throw new UnsupportedError(`On this machine no tunnel is needed: reach "${sandboxPort}" at 127.0.0.1.`)
  }

  /** The process to send to; one that has ended is started again by the next call. */
  #open(signal: AbortSignal): Promise<Opened> {
    if (this.#isClosed) return Promise.reject(disconnected(here))
    if (this.#opened === undefined) {
      const opening = this.#start()
      this.#opened = opening
      const forget = () => {
        if (this.#opened === opening) this.#opened = undefined
      }
      opening.then(({ server }) => server.ended.then(forget), forget)
    }
    return orAborted(signal, this.#opened)
  }

  async #start(): Promise<Opened> {
    const { openLoopback, startLocalServer, unixFetch } = await node(
      'Operating this machine',
      () => import('../local/index.ts'),
    )
    const server = await withDeadline({ timeoutMs: startingMs }, 'Starting "backlot computer"', (limit) =>
      startLocalServer(this.#display, limit),
    )
    const { fetch, close } = unixFetch(server.socket)
    let loopback: Promise<Loopback> | undefined
    return {
      server,
      address() {
        loopback ??= openLoopback(server.socket)
        return loopback
      },
      routes: new HttpRoutes('http://localhost', {}, fetch),
      async close() {
        close()
        ;(await loopback?.catch(() => undefined))?.close()
        await server.end()
      },
    }
  }
}

/** How the server is named in errors. */
const here = 'this machine'

/** Milliseconds in which the process listens, whoever waits for it. */
const startingMs = 30_000
