/** Where the daemon of a display listens, and what it must agree on with its clients. */
import { Failure } from '@backlot/contract/failure'
import { longestSocketPath } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'
import { version } from '@backlot/contract/version'
import type { Identity } from './wire.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** `$DISPLAY` without the screen number and the host names of this machine: `unix:1.0` is `:1`; empty without a display. */
export const displayName = (env: Environment): string =>
  (env.DISPLAY ?? '').replace(/^(?:unix|localhost\/unix)(?=:)/, '').replace(/(:\d+)\.\d+$/, '$1')

/** Address of the session bus without its guid; empty when the environment names none. */
export const busName = (env: Environment): string =>
  (env.DBUS_SESSION_BUS_ADDRESS ?? '').replace(/,guid=[0-9a-f]+/g, '')

/** What a client in this environment expects of its daemon. */
export const identityOf = (env: Environment): Identity => ({ version, display: displayName(env), bus: busName(env) })

/** Name of the files that belong to the daemon of a display. */
export const daemonName = (display: string): string =>
  display === '' ? 'driver-no-display' : `driver-${display.replace(/^:/, '').replace(/[^A-Za-z0-9._-]/g, '_')}`

/** Where the daemon of the environment's display listens. Throws `socket_refused` where the path is too long for a socket. */
export const defaultSocket = (env: Environment): string =>
  socketPath(`${placesOf(env).runtime}/${daemonName(displayName(env))}.sock`)

/** The path as it is, if a Unix socket can have it; otherwise throws `socket_refused`. */
export const socketPath = (path: string): string => {
  const bytes = Buffer.byteLength(path)
  if (bytes > longestSocketPath) {
    throw new Failure(
      'socket_refused',
      `The socket path "${path}" has ${bytes} bytes and a socket's may have ${longestSocketPath}; name a shorter one with \`--socket\`.`,
      { path, bytes, limit: longestSocketPath },
    )
  }
  return path
}
