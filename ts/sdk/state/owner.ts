/** Who works on a file, or for whom a sandbox was started: a process that cannot be taken for another one. */

/** A process, spelled as it is stored. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in clock ticks since the kernel did; `null` where the system does not say. */
  readonly started: number | null
  /** This start of the machine and the pid namespace in it: pids count anew in each. `null` where the system does not say. */
  readonly space: string | null
  readonly host: string
}

/** Bit of the flags in `/proc/PID/stat` that a process has from the beginning of its end (PF_EXITING). */
const exiting = 0x4

/** This program. */
export const thisProgram = async (): Promise<ProcessIdentity> => {
  own ??= await look()
  return own
}

/** A process of this machine and pid namespace that lives. */
export const processOf = async (pid: number): Promise<ProcessIdentity> => ({
  ...(await thisProgram()),
  pid,
  started: await startOf(pid),
})

let own: ProcessIdentity | undefined

const look = async (): Promise<ProcessIdentity> => {
  const [{ readFile, readlink }, { hostname }] = await Promise.all([import('node:fs/promises'), import('node:os')])
  const [boot, namespace] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => null),
    readlink('/proc/self/ns/pid').catch(() => null),
  ])
  const space = boot === null || namespace === null ? null : `${boot.trim()} ${namespace}`
  return { pid: process.pid, started: await startOf(process.pid), space, host: hostname() }
}

/** When a living process started; `null` where there is none, zombies and the dying among them, or no `/proc`. */
const startOf = async (pid: number): Promise<number | null> => {
  const { readFile } = await import('node:fs/promises')
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    // The command's name stands in parentheses and may hold any character, so fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || (Number(fields[6]) & exiting) !== 0 ? null : Number(fields[19])
  } catch {
    return null
  }
}

/** Whether a process is known to have ended; one of another machine or pid namespace never is. */
export const hasEnded = async (owner: ProcessIdentity): Promise<boolean> => {
  const here = await thisProgram()
  if (owner.host !== here.host) return false
  if (owner.space !== here.space)
    return bootOf(owner) !== null && bootOf(here) !== null && bootOf(owner) !== bootOf(here)
  if (owner.started !== null && here.started !== null) return (await startOf(owner.pid)) !== owner.started
  try {
    process.kill(owner.pid, 0)
    return false
  } catch (error) {
    return (error as { code?: unknown }).code === 'ESRCH'
  }
}

const bootOf = ({ space }: ProcessIdentity): string | null => space?.split(' ')[0] ?? null
