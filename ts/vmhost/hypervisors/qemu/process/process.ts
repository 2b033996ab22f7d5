/** Processes as the kernel shows them. */
import { readFileSync } from 'node:fs'

/** The descriptor through which a hypervisor holds the lock of its VM, the first after the standard ones. */
export const lockDescriptor = 3
/** The number of a memory image's pages in a hypervisor that maps them. */
export const pagesDescriptor = 4

/** When a process began, in ticks since the host's boot: with its pid it names one process. Undefined for none. */
export const startTime = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the command in parentheses, which may hold anything, the first field is the third (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

/** Kills the process if it is still the one that began then. */
export const killProcess = (pid: number, began: string): void => endProcess(pid, began, 'SIGKILL')

/** Sends the process a signal if it is still the one that began then. */
export const endProcess = (pid: number, began: string, signal: 'SIGTERM' | 'SIGKILL'): void => {
  if (startTime(pid) !== began) return
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
