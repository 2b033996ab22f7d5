/** Full disks, told as such. */
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
