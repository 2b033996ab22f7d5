/** Who a desktop's folder belongs to: its name carries the owner, so that a later start can tell the dead from the living. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A process that cannot be taken for another one: pids are used again, and count anew in each pid namespace. */
export interface ProcessIdentity {
  /** Inode of the pid namespace in which `pid` counts. */
  readonly namespace: number
  readonly pid: number
  /** Start of the process in clock ticks since the kernel started, field 22 of `/proc/PID/stat` (proc(5)). */
  readonly startTicks: number
}

/** Bit of the flags in `/proc/PID/stat` that a process has from the beginning of its end (PF_EXITING). */
const exiting = 0x4

/** Start of a living process in clock ticks, or null where there is none of that pid; zombies and the dying are dead. */
export const startTicksOf = (pid: number): number | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The command's name stands in parentheses and may hold any character, so fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || (Number(fields[6]) & exiting) !== 0 ? null : Number(fields[19])
  } catch {
    return null
  }
}

const ownNamespace = (): number => Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0])

/** The running process. */
export const thisProcess = (): ProcessIdentity => ({
  namespace: ownNamespace(),
  pid: process.pid,
  startTicks: startTicksOf(process.pid) ?? 0,
})

const form = /^desktop-(\d+)-(\d+)-(\d+)-\d+$/

/** Name of an owner's folder number `count`: `desktop-NAMESPACE-PID-START-COUNT`. */
export const folderName = (owner: ProcessIdentity, count: number): string =>
  `desktop-${owner.namespace}-${owner.pid}-${owner.startTicks}-${count}`

/** Reads the owner off a folder's name; null where the name is none of ours. */
export const ownerOf = (name: string): ProcessIdentity | null => {
  const [, namespace, pid, startTicks] = form.exec(name) ?? []
  return namespace === undefined
    ? null
    : { namespace: Number(namespace), pid: Number(pid), startTicks: Number(startTicks) }
}

/** Absolute paths of the desktops under a runtime folder whose owner is known to be dead; another namespace's never are. */
export const deadDesktops = (runtime: string): string[] => {
  let names: string[]
  try {
    names = readdirSync(runtime)
  } catch {
    return []
  }
  const namespace = ownNamespace()
  return names
    .filter((name) => {
      const owner = ownerOf(name)
      return owner?.namespace === namespace && startTicksOf(owner.pid) !== owner.startTicks
    })
    .map((name) => join(runtime, name))
}
