/** The hypervisor of a VM of which nothing else tells: the process that holds the VM's lock. */
import { readlinkSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { startTicksOf } from '@backlot/native/proc-stat'
import { vmPath } from '../../../vms/vm-directory.ts'
import type { VmPlace } from '../../../vms/vm-store.ts'
import { endProcess, lockDescriptor } from './process.ts'

/** Milliseconds that it may take to write what it has in hand, and after that to be gone. */
const endsWithinMs = { asked: 2_000, killed: 4_000 } as const
const looksEveryMs = 20

/** Ends it; `isFree` says whether the lock is. Throws `vm_damaged` where what holds the lock is no hypervisor, and `vm_not_stopped`. */
export const endLockHolder = async ({ name, path }: VmPlace, isFree: () => boolean): Promise<void> => {
  const lock = vmPath(path, 'lock')
  const holders = await holdersOf(lock)
  const found = holders.filter(isHypervisor).map((pid) => ({ pid, began: startTicksOf(pid) ?? 0 }))
  const isGone = async (ms: number) => {
    const deadline = performance.now() + ms
    while (!isFree()) {
      if (performance.now() > deadline) return false
      await Bun.sleep(looksEveryMs)
    }
    return true
  }
  for (const [signal, ms] of [
    ['SIGTERM', endsWithinMs.asked],
    ['SIGKILL', endsWithinMs.killed],
  ] as const) {
    for (const { pid, began } of found) endProcess(pid, began, signal)
    if (await isGone(found.length > 0 ? ms : 0)) return
  }
  if (found.length === 0) {
    const who =
      holders.length === 0 ? 'a process that cannot be looked into' : `process ${holders.join(', ')}, no hypervisor`
    throw new Failure('vm_damaged', `The lock "${lock}" is held by ${who}: end that, and the VM is stopped.`, { path })
  }
  const [{ pid } = { pid: 0 }] = found
  throw new Failure(
    'vm_not_stopped',
    `The hypervisor of "${name}" (process ${pid}) does not end, not even when killed.`,
    { name, pid },
  )
}

/** The processes that were given this file as a hypervisor is given its lock. */
const holdersOf = async (lock: string): Promise<number[]> => {
  const { dev, ino } = await stat(lock)
  return (await readdir('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const held = statSync(`/proc/${pid}/fd/${lockDescriptor}`)
        return held.dev === dev && held.ino === ino
      } catch {
        // It has ended, has no such descriptor, or is somebody else's.
        return false
      }
    })
}

const isHypervisor = (pid: number): boolean => {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('qemu-system-')
  } catch {
    return false
  }
}
