/** One daemon a socket. */
import { Failure } from '@backlot/contract/failure'
import type { FileLock } from '@backlot/native'
import { tryLock } from '../lock.ts'

/** Takes the lock of the socket at `path`. Throws `already_running` where another process holds it, and `socket_refused`. */
export const lockSocket = async (path: string): Promise<FileLock> => {
  const lock = await tryLock(path).catch((error: unknown) => {
    const failure = Failure.from(error)
    if (failure.code !== 'internal') throw failure
    throw new Failure(
      'socket_refused',
      `"${path}.lock" cannot be locked: ${failure.message}; name a socket in a folder of your own with \`--socket\`.`,
      { path: `${path}.lock` },
    )
  })
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
