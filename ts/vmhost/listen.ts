/** The service on its socket: a port of loopback, a port of the network behind a key, or a Unix socket. */
import { lstatSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { Failure } from '@backlot/contract/failure'
import { answersPerCollection, environment, stopGrace } from '@backlot/contract/limits'
import type { Places } from '@backlot/contract/places'
import { accelerationAt } from './acceleration.ts'
import { type Answer, createApp } from './app.ts'
import { joinScreens, type ScreenLink, screenSockets } from './console/screen.ts'
import { core, type FileLock } from './core.ts'
import { consolePath } from './guard.ts'
import { isLoopback, isPublicName, loopbackNames, urlHost } from './names.ts'
import { openHost } from './open-host.ts'
import { Passes } from './passes.ts'
import { mayBeCaller } from './peer.ts'

export interface ListenOptions {
  /** An address of this machine, or `unix:PATH`. */
  readonly address: string
  /** 0 takes any free port; a Unix socket has none. */
  readonly port: number
  /** Asked of every caller; required beyond loopback. */
  readonly token?: string | undefined
  /** Names beside those of this machine under which it is reached beyond loopback. */
  readonly names?: readonly string[]
  /** Seconds that a guest has to shut down where who stops it does not say. */
  readonly stopGraceSeconds?: number
  readonly places: Places
  /** Takes a line for each request and each defect, without time and line end. */
  log(line: string): void
}

/** A service that listens; disposing of it ends it, open connections included. */
export interface Listening extends AsyncDisposable {
  /** `http://127.0.0.1:7777`, or `unix:PATH`. */
  readonly url: string
  /** A new address of the console that lets one browser in, once; undefined where nothing asks for a token. */
  newLink(): string | undefined
}

/** Starts the service. Throws `token_required`, `cannot_listen`, or `config_unreadable` where its settings are damaged. */
export const listen = async (options: ListenOptions): Promise<Listening> => {
  const { address, places, log } = options
  const socket = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined
  const isPrivate = socket !== undefined || isLoopback(address)
  if (!isPrivate && options.token === undefined) {
    throw new Failure(
      'token_required',
      `"${address}" can be reached from other machines: give the service a token with --token-file or ${environment.hostToken}.`,
      { address },
    )
  }
  const stopGraceMs = (options.stopGraceSeconds ?? stopGrace.usualSeconds) * 1_000
  const host = await openHost(places, async () => (await accelerationAt(places)).accelerator, stopGraceMs)

  // Whose requests are admitted depends on the port, which is known once the socket is bound; none is read before.
  let answer: Answer | undefined
  let answered = 0
  const server = await orDispose(host, async () => {
    using _turn = socket === undefined ? undefined : turnAt(socket)
    if (socket !== undefined) await removeStale(socket)
    return bind(address, socket === undefined ? { hostname: address, port: options.port } : { unix: socket }, {
      // Beyond it Bun answers 413 by itself; the service reads bodies up to its own limit and answers 400.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: async (request: Request) => {
        const started = performance.now()
        const response = await (answer as Answer)(request)
        if (++answered % answersPerCollection === 0) setImmediate(() => Bun.gc(true))
        const path = URL.parse(request.url)?.pathname ?? '-'
        log(`${request.method} ${path} ${response.status} ${Math.round(performance.now() - started)} ms`)
        return response
      },
    })
  })
  const port = server.port ?? 0
  const hosts =
    socket !== undefined
      ? ['localhost']
      : isPrivate
        ? loopbackNames(address, port)
        : [`${hostname().toLowerCase()}:${port}`, `localhost:${port}`]
  const { token, names = [] } = options
  const passes = token === undefined || socket !== undefined ? undefined : new Passes(token, port)
  const shown = isAnyAddress(address) ? (names[0] ?? hostname()) : address
  const page = `http://${urlHost(shown)}:${port}${consolePath}`
  const newLink = () => (passes === undefined ? page : `${page}?link=${passes.newLink()}`)
  const isOwnHost = (host: string) => (isPrivate ? hosts.includes(host) : isPublicName(host, address, names))
  answer = createApp(
    { ...host, newLink: () => (socket === undefined ? newLink() : undefined) },
    {
      hosts,
      isOwnHost,
      token,
      passes,
      mayBeGuest: (request) => {
        const caller = socket === undefined ? server.requestIP(request) : null
        return caller !== null && mayBeCaller(host.machines.pids, { localPort: caller.port, remotePort: port })
      },
    },
    joinScreens(server),
    (defect) => log(`defect: ${Bun.inspect(defect)}`),
  )
  return {
    url: socket === undefined ? `http://${urlHost(address)}:${port}` : address,
    newLink: () => (passes === undefined ? undefined : newLink()),
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await host[Symbol.asyncDispose]()
    },
  }
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

/** Seconds, none: disks are copied and events awaited for as long as it takes. */
const idleTimeout = 0

const isAnyAddress = (address: string): boolean => address === '0.0.0.0' || address === '::'

type Where = { unix: string } | { hostname: string; port: number }
type Serving = Pick<Bun.Serve.Options<ScreenLink>, 'maxRequestBodySize'> & {
  fetch(request: Request): Promise<Response>
}

const bind = (address: string, where: Where, serving: Serving): Bun.Server<ScreenLink> => {
  // Sockets are created with mode 0755 otherwise, and closing them afterwards would leave a gap.
  const umask = process.umask(0o177)
  try {
    // Bun keeps to it on a Unix socket too, though its types deny that.
    return Bun.serve({ ...where, ...serving, idleTimeout, websocket: screenSockets } as Bun.Serve.Options<ScreenLink>)
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

/**
 * The turn of one service to look at what is at the path and to bind there: two that both see a socket on which nobody
 * listens would each remove it, the later one that of the earlier. Throws `cannot_listen` where it is another's.
 */
const turnAt = (path: string): Disposable => {
  let lock: FileLock | null
  let why = 'another service is starting there'
  try {
    lock = core().FileLock.take(`${path}.lock`)
  } catch (error) {
    lock = null
    why = `"${path}.lock" cannot be locked: ${(error as Error).message}`
  }
  if (lock === null) {
    throw new Failure(
      'cannot_listen',
      `Cannot listen on "unix:${path}": ${why}; use that one, or choose another path.`,
      {
        address: `unix:${path}`,
      },
    )
  }
  const taken = lock
  return { [Symbol.dispose]: () => taken.release() }
}

/** Removes a socket on which nobody listens any more; one that is alive is left for `bind` to fail on. */
const removeStale = async (path: string): Promise<void> => {
  const isDead = await new Promise<boolean>((settle) => {
    const probe = connect(path, () => {
      probe.destroy()
      settle(false)
    })
    probe.on('error', ({ code }: NodeJS.ErrnoException) => settle(code === 'ECONNREFUSED'))
  })
  if (isDead && lstatSync(path).isSocket()) rmSync(path, { force: true })
}
