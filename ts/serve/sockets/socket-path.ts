/** The path of a Unix socket, taken by one server at a time. */
import { lstatSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { Failure } from '@backlot/contract/failure'
import type * as Native from '@backlot/native'

/**
 * The turn of one server to look at what is at the path and to bind there: two that both see a socket on which nobody
 * listens would each remove it, the later one that of the earlier. Throws `cannot_listen` where it is another's.
 */
export const turnAt = (path: string, { FileLock }: typeof Native): Disposable => {
  let lock: ReturnType<typeof Native.FileLock.take>
  let why = 'another service is starting there'
  try {
    lock = FileLock.take(`${path}.lock`)
  } catch (error) {
    lock = null
    why = `"${path}.lock" cannot be locked: ${(error as Error).message}`
  }
  if (lock === null) {
    throw new Failure(
      'cannot_listen',
      `Cannot listen on "unix:${path}": ${why}; use that one, or choose another path.`,
      { address: `unix:${path}` },
    )
  }
  const taken = lock
  return { [Symbol.dispose]: () => taken.release() }
}

/** Removes a socket on which nobody listens any more; one that is alive is left for binding to fail on. */
export const removeStale = async (path: string): Promise<void> => {
  const isDead = await new Promise<boolean>((settle) => {
    const probe = connect(path, () => {
      probe.destroy()
      settle(false)
    })
    probe.on('error', ({ code }: NodeJS.ErrnoException) => settle(code === 'ECONNREFUSED'))
  })
  if (isDead && lstatSync(path).isSocket()) rmSync(path, { force: true })
}
