/** Full disks, told as such. */
import { Failure } from '@backlot/contract/failure'

/** The failure of a write that found no room; any other error as it is. */
export const noRoom = (error: unknown, path: string): unknown =>
  (error as NodeJS.ErrnoException).code === 'ENOSPC'
    ? new Failure('disk_full', `There is no room left in "${path}". Make room and try again.`, { path })
    : error
