/** Whether a hypervisor or a tool has a disk open, as they tell each other by locks on parts of its file. */
import { Failure } from '@backlot/contract/failure'
import { core } from '../core.ts'

/**
 * Throws `disk_in_use` where QEMU or one of its tools has the disk open. The disk is claimed as it is to be grown, to no
 * size at all, which is refused before anything is changed; what else is wrong with it is for others to tell.
 */
export const refuseOpen = async (path: string): Promise<void> => {
  try {
    await core().resizeDisk(path, 0)
  } catch (error) {
    const failure = Failure.from(error)
    if (failure.code === 'disk_in_use') throw failure
  }
}
