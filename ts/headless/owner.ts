/** Who a desktop's folder belongs to: its name carries the owner, so that a later start can tell the dead from the living. */
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { startTicksOf } from '@backlot/native/proc-stat'

/** A process that cannot be taken for another one: pids are used again, and count anew in each pid namespace. */
export interface ProcessIdentity {
  /** Inode of the pid namespace in which `pid` counts. */
  readonly namespace: number
  readonly pid: number
  /** Start of the process in clock ticks since the kernel started, field 22 of `/proc/PID/stat` (proc(5)). */
  readonly startTicks: number
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
