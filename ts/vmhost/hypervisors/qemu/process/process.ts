/** The process of a hypervisor: its descriptors and its end. */
import { startTicksOf } from '@backlot/native/proc-stat'

/** The descriptor through which a hypervisor holds the lock of its VM, the first after the standard ones. */
export const lockDescriptor = 3
/** The number of a memory image's pages in a hypervisor that maps them. */
export const pagesDescriptor = 4

/** Kills the process if it is still the one that began then. */
export const killProcess = (pid: number, began: number): void => endProcess(pid, began, 'SIGKILL')

/** Sends the process a signal if it is still the one that began then. */
export const endProcess = (pid: number, began: number, signal: 'SIGTERM' | 'SIGKILL'): void => {
  if (startTicksOf(pid) !== began) return
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
