/** One daemon a socket. */
import { Failure } from '@backlot/contract/failure'
import { daemon } from '@backlot/contract/limits'
import type { FileLock } from '@backlot/native'
import { tryLock } from '../../lock.ts'
import { connect } from '../client/connection.ts'
import { checkSocket } from '../folder.ts'
import { log } from './log.ts'

/** Milliseconds between two looks whether a daemon that holds the lock answers, or has let go of it. */
const pollIntervalMs = 20

/**
 * Takes the lock of the socket at `path`, waiting for a daemon that ends: until it has gone, nobody answers. Throws
 * `already_running` where another daemon answers, or does not go, and `socket_refused`.
 */
export const lockSocket = async (path: string): Promise<FileLock> => {
  const deadline = performance.now() + daemon.endTimeoutMs
  let isWaiting = false
  for (;;) {
    const lock = await take(path)
    if (lock === undefined) {
      if ((await isAnswered(path)) || performance.now() > deadline) throw alreadyRunning(path)
      if (!isWaiting) log(`waits for ${path}.lock, which a daemon holds that ends or begins`)
      isWaiting = true
      await Bun.sleep(pollIntervalMs)
      continue
    }
    // One that held the lock by another path of the same socket.
    if (!(await isAnswered(path))) return lock
    lock.release()
    throw alreadyRunning(path)
  }
}

const isAnswered = async (path: string): Promise<boolean> => {
  checkSocket(path)
  try {
    const connection = await connect(path)
    connection.close()
    return true
  } catch (error) {
    return Failure.from(error).code !== 'not_running'
  }
}

const take = async (path: string): Promise<FileLock | undefined> => {
  return tryLock(path).catch((error: unknown) => {
    const failure = Failure.from(error)
    if (failure.code !== 'internal') throw failure
    throw new Failure(
      'socket_refused',
      `"${path}.lock" cannot be locked: ${failure.message}; name a socket in a folder of your own with \`--socket\`.`,
      { path: `${path}.lock` },
    )
  })
}

/** The failure of a second daemon. */
const alreadyRunning = (path: string): Failure =>
  new Failure(
    'already_running',
    `A daemon is already running on "${path}". Use it, or end it with \`backlot-driver stop\`.`,
    { socket: path },
  )
