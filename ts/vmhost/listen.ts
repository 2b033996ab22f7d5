/** The service on its socket: a port of loopback, a port of the network behind a key, or a Unix socket. */
import { lstatSync, rmSync } from 'node:fs'
import { connect, isIPv4, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import type { Places } from '@backlot/contract/places'
import { type Answer, createApp } from './app.ts'
import { SettingsFile } from './settings.ts'

export interface ListenOptions {
  /** An address of this machine, or `unix:PATH`. */
  readonly address: string
  /** 0 takes any free port; a Unix socket has none. */
  readonly port: number
  /** Asked of every caller; required beyond loopback. */
  readonly key?: string | undefined
  readonly places: Places
  /** Takes a line for each request and each defect, without time and line end. */
  log(line: string): void
}

/** A service that listens; disposing of it ends it, open connections included. */
export interface Listening extends AsyncDisposable {
  /** `http://127.0.0.1:7777`, or `unix:PATH`. */
  readonly url: string
}

/** Starts the service. Throws `key_required`, `cannot_listen`, or `config_unreadable` where its settings are damaged. */
export const listen = async (options: ListenOptions): Promise<Listening> => {
  const { address, places, log } = options
  const socket = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined
  const isPrivate = socket !== undefined || isLoopback(address)
  if (!isPrivate && options.key === undefined) {
    throw new Failure(
      'key_required',
      `"${address}" can be reached from other machines: give the service a key with ${environment.hostKey} or --key-file.`,
      { address },
    )
  }
  const settings = new SettingsFile(join(places.config, 'vmhost.json'), {
    homeDirectory: join(places.data, 'vms'),
    cacheDirectory: join(places.cache, 'images'),
  })
  await settings.read()
  if (socket !== undefined) await removeStale(socket)

  // Whose requests are admitted depends on the port, which is known once the socket is bound; none is read before.
  let answer: Answer | undefined
  const server = bind(address, socket === undefined ? { hostname: address, port: options.port } : { unix: socket }, {
    // Beyond it Bun answers 413 by itself; the service reads bodies up to its own limit and answers 400.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: async (request: Request) => {
      const started = performance.now()
      const response = await (answer as Answer)(request)
      const path = URL.parse(request.url)?.pathname ?? '-'
      log(`${request.method} ${path} ${response.status} ${Math.round(performance.now() - started)} ms`)
      return response
    },
  })
  const hosts = socket !== undefined ? ['localhost'] : isPrivate ? ownHosts(address, server.port ?? 0) : undefined
  answer = createApp({ settings }, { hosts, key: options.key }, (defect) => log(`defect: ${Bun.inspect(defect)}`))
  return {
    url: socket === undefined ? `http://${urlHost(address)}:${server.port}` : address,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || (isIPv4(address) && address.startsWith('127.'))

const urlHost = (address: string): string => (isIPv6(address) ? `[${address}]` : address)

/** What `Host` says in requests to this service, and what a page of ours would have as its origin. */
const ownHosts = (address: string, port: number): string[] => {
  const names = new Set(['localhost', '127.0.0.1', '[::1]', urlHost(address)])
  return [...names].flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]))
}

type Where = { unix: string } | { hostname: string; port: number }
type Serving = Pick<Bun.Serve.Options<undefined>, 'maxRequestBodySize'> & {
  fetch(request: Request): Promise<Response>
}

const bind = (address: string, where: Where, serving: Serving): Bun.Server<undefined> => {
  // Sockets are created with mode 0755 otherwise, and closing them afterwards would leave a gap.
  const umask = process.umask(0o177)
  try {
    return Bun.serve({ ...where, ...serving })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const shown = 'unix' in where ? address : `${urlHost(address)}:${where.port}`
    const why =
      code === 'EADDRINUSE'
        ? 'another program listens there; end it, or choose another port or address'
        : code === 'EADDRNOTAVAIL'
          ? 'this machine has no such address; choose another with --listen'
          : `${(error as Error).message}; choose another address with --listen`
    throw new Failure('cannot_listen', `Cannot listen on "${shown}": ${why}.`, { address: shown })
  } finally {
    process.umask(umask)
  }
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
