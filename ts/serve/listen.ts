/** A server on its socket: a port of loopback, a port of the network behind a key, or a Unix socket. */
import { hostname } from 'node:os'
import { Failure } from '@backlot/contract/failure'
import type * as Native from '@backlot/native'
import type { AccessGuard, Rules } from './access/guard.ts'
import { isLoopback, isPublicName, loopbackNames, urlHost } from './access/names.ts'
import { type AccessRight, Passes } from './access/passes.ts'
import { Callers } from './access/peer.ts'
import { removeStale, turnAt } from './sockets/socket-path.ts'
import { joinSockets, type SocketHandler, socketHandlers, type UpgradeWebSocket } from './sockets/web-sockets.ts'

/** Answers after which a server collects its garbage. */
const answersPerCollection = 100

/** The key of a server, or what gives the one that holds now. */
export type Key = string | (() => string)

/** Where a server listens and whom it admits. */
export interface ListenOptions {
  /** An address of this machine, or `unix:PATH`. */
  readonly address: string
  /** 0 takes any free port; a Unix socket has none. */
  readonly port: number
  /** Asked of every caller; required beyond loopback, unless the server is open. A function gives the one of the moment. */
  readonly key?: Key | undefined
  /** Listens beyond loopback without a key too. */
  readonly isOpen?: boolean
  /** Names beside those of this machine under which it is reached beyond loopback. */
  readonly names?: readonly string[]
  /** The port of 127.0.0.1 from which somebody leads callers to the Unix socket. */
  readonly forwardedPort?: number | undefined
  /** Bytes of the longest message that a WebSocket takes. */
  readonly longestMessageBytes: number
  readonly rules: Rules
  /** Gives the native core, which is loaded when it is first needed. */
  native(): typeof Native
  /** Takes a line for each request and each defect, without time and line end. */
  log(line: string): void
}

/** Answers one request; never throws. */
export type RequestHandler = (request: Request) => Promise<Response>

/** What a server serves; disposed of when the server has ended, or could not begin. */
export interface Service extends AsyncDisposable {
  /** Processes that carry the network of guests, beside those that are known by the names of their programs. */
  readonly guestPids: readonly number[]
  /** Answers the requests of a server that has begun. */
  answersAt(server: BoundServer): RequestHandler
}

/** A server that has its socket, as what it serves sees it. */
export interface BoundServer {
  readonly entry: AccessGuard
  readonly join: UpgradeWebSocket
  /**
   * An address of the page that one browser may open, and use as far as `right` (`act`) goes where a key is asked for;
   * undefined where no browser reaches it.
   */
  newLink(right?: AccessRight): string | undefined
  /** Takes a defect: an error that is no `Failure`. */
  report(defect: unknown): void
}

/** A server that listens; disposing of it ends it, open connections included. */
export interface ListeningServer extends AsyncDisposable {
  /** `http://127.0.0.1:7777`, or `unix:PATH`. */
  readonly url: string
  /** A new address of the page that lets one browser in, once; undefined where nothing asks for a key. */
  newLink(): string | undefined
}

/** Starts a server of what `open` gives. Throws `token_required`, `cannot_listen`, or what `open` throws. */
export const listen = async (options: ListenOptions, open: () => Promise<Service>): Promise<ListeningServer> => {
  const { address, key, log, names = [], rules } = options
  const socket = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined
  const isPrivate = socket !== undefined || isLoopback(address)
  if (!isPrivate) refuseUnguarded(options)
  const service = await open()

  // Whose requests are admitted depends on the port, which is known once the socket is bound; none is read before.
  let answer: RequestHandler | undefined
  const server = await orDispose(service, async () => {
    using _turn = socket === undefined ? undefined : turnAt(socket, options.native())
    if (socket !== undefined) await removeStale(socket)
    return bind(address, socket === undefined ? { hostname: address, port: options.port } : { unix: socket }, {
      // Beyond it Bun answers 413 by itself; each route reads bodies up to its own limit.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      websocket: socketHandlers(options.longestMessageBytes),
      fetch: logged((request) => (answer as RequestHandler)(request), log),
    })
  })
  const port = server.port ?? options.forwardedPort ?? 0
  const { hosts, isBrowsed, page } = reachedAt(options, port)
  const keyNow = typeof key === 'string' ? () => key : key
  const passes = keyNow === undefined || !isBrowsed ? undefined : new Passes(keyNow, rules.realm, port)
  const newLink = (right?: AccessRight) => (passes === undefined ? page : `${page}?link=${passes.newLink(right)}`)
  const callers = new Callers(options.native)
  answer = service.answersAt({
    entry: {
      hosts,
      isOwnHost: (host) => (isPrivate ? hosts.includes(host) : isPublicName(host, address, names)),
      get key() {
        return keyNow?.()
      },
      passes,
      rules,
      mayBeGuest: (request) =>
        socket === undefined && mayBeGuest(callers, service.guestPids, port, () => server.requestIP(request)),
    },
    join: joinSockets(server),
    newLink: (right) => (isBrowsed ? newLink(right) : undefined),
    report: (defect) => log(`defect: ${Bun.inspect(defect)}`),
  })
  return {
    url: socket === undefined ? `http://${urlHost(address)}:${port}` : address,
    newLink: () => (passes === undefined ? undefined : newLink()),
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await service[Symbol.asyncDispose]()
    },
  }
}

/** Throws `token_required` for an address of the network that asks for no key, unless that is wanted. */
const refuseUnguarded = ({ address, key, isOpen, rules }: ListenOptions): void => {
  if (key !== undefined || isOpen) return
  const text = `"${address}" can be reached from other machines: ${rules.texts.keyRequired}`
  throw new Failure('token_required', text, { address })
}

/** How callers reach a server: the names in `Host`, whether a browser does, and the address of its page. */
const reachedAt = ({ address, forwardedPort, names = [], rules }: ListenOptions, port: number) => {
  const isSocket = address.startsWith('unix:')
  const isForwarded = isSocket && forwardedPort !== undefined
  const shown = isForwarded ? '127.0.0.1' : isAnyAddress(address) ? (names[0] ?? hostname()) : address
  return {
    hosts: hostsOf(address, port, isForwarded),
    isBrowsed: !isSocket || isForwarded,
    page: `http://${urlHost(shown)}:${port}${rules.pagePath}`,
  }
}

/** The names by which callers reach an address, as `Host` tells them. */
const hostsOf = (address: string, port: number, isForwarded: boolean): string[] => {
  if (address.startsWith('unix:')) return ['localhost', ...(isForwarded ? loopbackNames('127.0.0.1', port) : [])]
  if (isLoopback(address)) return loopbackNames(address, port)
  return [`${hostname().toLowerCase()}:${port}`, `localhost:${port}`]
}

/** Whether a guest may be who asks. */
const mayBeGuest = (
  callers: Callers,
  guestPids: readonly number[],
  ownPort: number,
  callerOf: () => { readonly address: string; readonly port: number } | null,
): boolean => {
  // The kernel names nobody once the connection was broken off; what it said before holds if it lives afterwards.
  const caller = callerOf()
  if (caller === null) return true
  return callers.mayBeGuest(guestPids, { ...caller, ownPort }) || callerOf() === null
}

/** Does it, and disposes of what was opened for it where that fails. */
const orDispose = async <T>(opened: AsyncDisposable, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await opened[Symbol.asyncDispose]()
    throw error
  }
}

/** Answers with a line for each request, of which the query is not kept: it may hold secrets. */
const logged = (answer: RequestHandler, log: (line: string) => void): RequestHandler => {
  let answered = 0
  return async (request) => {
    const started = performance.now()
    const response = await answer(request)
    if (++answered % answersPerCollection === 0) setImmediate(() => Bun.gc(true))
    const path = URL.parse(request.url)?.pathname ?? '-'
    log(`${request.method} ${path} ${response.status} ${Math.round(performance.now() - started)} ms`)
    return response
  }
}

/** Seconds, none: disks are copied and events awaited for as long as it takes. */
const idleTimeout = 0

const isAnyAddress = (address: string): boolean => address === '0.0.0.0' || address === '::'

type ListenAddress = { unix: string } | { hostname: string; port: number }
type Serving = Pick<Bun.Serve.Options<SocketHandler>, 'maxRequestBodySize'> & {
  websocket: Bun.WebSocketHandler<SocketHandler>
  fetch: RequestHandler
}

const bind = (address: string, where: ListenAddress, serving: Serving): Bun.Server<SocketHandler> => {
  // Sockets are created with mode 0755 otherwise, and closing them afterwards would leave a gap.
  const umask = process.umask(0o177)
  try {
    // Bun keeps to it on a Unix socket too, though its types deny that.
    return Bun.serve({ ...where, ...serving, idleTimeout } as Bun.Serve.Options<SocketHandler>)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const shown = 'unix' in where ? address : `${urlHost(address)}:${where.port}`
    const why =
      code === 'EADDRINUSE'
        ? 'another program listens there; end it, or choose another port or address'
        : code === 'EADDRNOTAVAIL'
          ? 'this machine has no such address; choose another with --host'
          : `${(error as Error).message}; choose another address with --host or --listen`
    throw new Failure('cannot_listen', `Cannot listen on "${shown}": ${why}.`, { address: shown })
  } finally {
    process.umask(umask)
  }
}
