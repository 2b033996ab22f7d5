/** A run whose record cannot be read, told again by the process that the lock of its VM belongs to. */
import { readFileSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { vmPath } from '../../vm-directory.ts'
import type { StoredVm } from '../../vm-store.ts'
import { newPassword } from './password.ts'
import { lockDescriptor } from './process.ts'
import { type RunRecord, writeRun } from './run-record.ts'
import { toldBy } from './told.ts'

/** A run that goes on. */
export interface Recovered {
  /** Of its hypervisor, the one process that holds the lock. */
  readonly pid: number
  readonly run: RunRecord
}

/**
 * Writes the record of a run, damaged or gone, anew from what its hypervisor was started with; its screen gets another password.
 * Throws `vm_damaged` where no process that holds the lock is the hypervisor of this VM.
 */
export const recoverRun = async (vm: StoredVm, damage: Error | undefined): Promise<Recovered> => {
  const lock = vmPath(vm.path, 'lock')
  const { dev, ino, mtime } = await stat(lock)
  const holders = await processesWith(dev, ino)
  for (const pid of holders) {
    const told = toldBy(wordsOf(pid))
    if (told?.uuid !== vm.settings.uuid) continue
    const { uuid: _, hasDisplay, ...rest } = told
    const run: RunRecord = {
      hypervisor: 'qemu',
      // The lock is made for each run.
      startedAt: mtime.toISOString(),
      ...rest,
      ipAddress: rest.forwards[0]?.address ?? null,
      vncPassword: hasDisplay ? newPassword() : null,
      sharedDirectories: rest.sharedDirectories.length > 0 ? rest.sharedDirectories : null,
    }
    await writeRun(vm.path, run)
    return { pid, run }
  }
  const path = vmPath(vm.path, 'run')
  const who =
    holders.length === 0 ? 'a process that cannot be looked into' : `process ${holders.join(', ')}, no hypervisor of it`
  throw new Failure(
    'vm_damaged',
    `${damage?.message ?? `There is no record "${path}".`} The lock "${lock}" is held by ${who}: end that, and the VM is stopped.`,
    { path },
  )
}

/** The processes that were given this file as a hypervisor is given its lock. */
const processesWith = async (dev: number, ino: number): Promise<number[]> =>
  (await readdir('/proc'))
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

const wordsOf = (pid: number): string[] => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}
