/** One daemon a socket. */
import { Failure } from '@backlot/contract/failure'
import { type Lock, tryLock } from '../lock.ts'

/** Takes the lock of the socket at `path`. Throws `already_running` where another process holds it. */
export const lockSocket = (path: string): Lock => {
  const lock = tryLock('driver', path)
  if (lock === undefined) throw alreadyRunning(path)
  return lock
}

/** The failure of a second daemon. */
export const alreadyRunning = (path: string): Failure =>
  new Failure(
    'already_running',
    `A daemon is already running on "${path}". Use it, or end it with \`backlot-driver stop\`.`,
    { socket: path },
  )
