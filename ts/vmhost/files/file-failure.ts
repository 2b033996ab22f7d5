/** What the system says no to when files are made, moved and removed, as failures. */
import { Failure } from '@backlot/contract/failure'

/** The failure of a write that found no room; any other error as it is. */
export const noRoom = (error: unknown, path: string): unknown => {
  const { code, message } = error as NodeJS.ErrnoException
  // The native core says in words why it could not write.
  const isFull = code === 'ENOSPC' || (code === 'disk_not_written' && /No space left/.test(message))
  return isFull
    ? new Failure('disk_full', `There is no room left in "${path}". Make room and try again.`, { path })
    : error
}

/** The failure behind what went wrong with files below `path`; any other error as it is. */
export const fileFailure = (error: unknown, path: string): unknown => {
  const failure = noRoom(error, path)
  const { syscall, message } = failure as NodeJS.ErrnoException
  if (failure instanceof Failure || syscall === undefined) return failure
  return new Failure(
    'storage_unusable',
    `The system refuses what is to be done in "${path}": ${message}. Make it a folder that can be written to, or use another.`,
    { path },
  )
}
