/** Processes as the kernel shows them in `/proc/PID/stat` (proc(5)). */
import { readdirSync, readFileSync } from 'node:fs'

/** What the kernel says of a process, or of one that has ended and was not waited for. */
export interface ProcStat {
  readonly pid: number
  /** Its letter: `Z` for one that has ended and was not waited for, `T` and `t` for one that is halted. */
  readonly state: string
  /** The process that has started it, or took it over. */
  readonly parent: number
  readonly session: number
  readonly flags: number
  /** When it began, in clock ticks since the kernel did: with its pid it names one process. */
  readonly startTicks: number
}

/** Null where no process has that pid. */
export const procStat = (pid: number): ProcStat | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The command's name stands in parentheses and may hold any character, so fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const number = (field: number): number => Number(fields[field - 3])
    return {
      pid,
      state: fields[0] ?? '',
      parent: number(4),
      session: number(6),
      flags: number(9),
      startTicks: number(22),
    }
  } catch {
    return null
  }
}

/** All that have a pid, those included that have ended and were not waited for. */
export const allProcesses = (): ProcStat[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => procStat(Number(name)) ?? [])

/**
 * Whether nothing of a process is left but its pid, or another one has that: `startTicks` says which is meant. One that is
 * ending is not over, and may hold its files and locks.
 */
export const hasEnded = (pid: number, startTicks?: number): boolean => {
  const stat = procStat(pid)
  return stat === null || /[ZX]/.test(stat.state) || stat.startTicks !== (startTicks ?? stat.startTicks)
}

/** Bit of the flags that a process has from the beginning of its end (PF_EXITING). */
const exiting = 0x4

/** When a living process began, in clock ticks; null where none has that pid, and for one that is ending or has ended. */
export const startTicksOf = (pid: number): number | null => {
  const stat = procStat(pid)
  return stat === null || stat.state === 'Z' || (stat.flags & exiting) !== 0 ? null : stat.startTicks
}
