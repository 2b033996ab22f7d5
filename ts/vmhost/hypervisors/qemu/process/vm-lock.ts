/** The lock of a VM, which its hypervisor's process holds for as long as it lives. */
import { takeLock } from '../../../files/file-locks.ts'

/** A lock that a child process can be given. */
export interface Lock {
  readonly descriptor: number | null
  leave(): void
  release(): void
}

/** How locks are taken. */
export interface Locks {
  lock(path: string): Lock | undefined
}

/** The lock on a file; undefined where another process holds it. */
export const lockAt = (path: string, { lock }: Locks): Lock | undefined => takeLock(lock, path)

/** True where no process holds the lock. */
export const isFree = (path: string, locks: Locks): boolean => {
  for (const isLast of [false, true]) {
    const taken = lockAt(path, locks)
    taken?.release()
    if (taken !== undefined) return true
    // Another service may be looking at the same time, which takes microseconds.
    if (!isLast) Bun.sleepSync(1)
  }
  return false
}
