/** Where the daemon of a display listens, and what it must agree on with its clients. */
import { displayName, driverName } from '@backlot/contract/display'
import { Failure } from '@backlot/contract/failure'
import { longestSocketPath } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'
import { version } from '@backlot/contract/version'
import type { Identity } from './wire.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Address of the session bus without its guid; empty when the environment names none. */
export const busName = (env: Environment): string =>
  (env.DBUS_SESSION_BUS_ADDRESS ?? '').replace(/,guid=[0-9a-f]+/g, '')

/** What a client in this environment expects of its daemon. */
export const identityOf = (env: Environment): Identity => ({ version, display: displayName(env), bus: busName(env) })

/** Where the daemon of the environment's display listens. Throws `socket_refused` where the path is too long for a socket. */
export const defaultSocket = (env: Environment): string =>
  socketPath(`${placesOf(env).runtime}/${driverName(displayName(env))}.sock`)

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
