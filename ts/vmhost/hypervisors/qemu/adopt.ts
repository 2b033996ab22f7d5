/** Finds the QEMU of a service that died. */
import { readFile, rm } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { removeUsedMemory } from '../../snapshots/saved-state.ts'
import { vmPath } from '../../vms/vm-directory.ts'
import type { StoredVm, VmPlace } from '../../vms/vm-store.ts'
import { QemuMachine, removeEndedRun, type Surroundings } from './machine.ts'
import { endingOf } from './process/exit-cause.ts'
import { type RunRecord, readRun } from './process/run-record.ts'
import { isFree, type Locks } from './process/vm-lock.ts'

/** Milliseconds that one found alive may take to answer on its control socket. */
export const answersWithinMs = 5_000

/** The machine of a VM that a service which has died left running; undefined where none is, and what that left is gone. */
export const adopt = async (vm: StoredVm, locks: Locks): Promise<QemuMachine | undefined> => {
  const run = await recordOf(vm, locks)
  if (run === undefined) return undefined
  const around: Surroundings = { isFree: (path) => isFree(path, locks), exit: () => undefined }
  const lock = vmPath(vm.path, 'lock')
  const deadline = performance.now() + answersWithinMs
  for (; !around.isFree(lock); await Bun.sleep(20)) {
    const isLate = performance.now() > deadline
    const pid = await readPid(vm.path)
    if (pid === undefined && isLate) throw silent(vm.name, answersWithinMs)
    // Without a pid, or a socket, it is being started this very moment.
    if (pid === undefined) continue
    try {
      const machine = await QemuMachine.take(vm, pid, run, around, answersWithinMs)
      if (!machine.isSaved) return machine
      await machine.endSaved()
      return undefined
    } catch (error) {
      const { code } = Failure.from(error)
      if (code === 'internal') throw untold(vm, (error as Error).message)
      // A process that stands still is alive, and somebody may want to end it.
      if (code !== 'hypervisor_unreachable' || isLate) return QemuMachine.silent(vm, pid, run, around)
    }
  }
  const log = await readFile(vmPath(vm.path, 'hypervisorLog'), 'utf8').catch(() => '')
  await removeEndedRun(vm.path, run, endingOf({ killed: false, asked: false }, 'while no service watched', log))
  await removeUsedMemory(vm.path)
  return undefined
}

/** How a VM was started that may still live; throws `vm_damaged` where it lives and that cannot be told. */
const recordOf = async (vm: StoredVm, locks: Locks): Promise<RunRecord | undefined> => {
  const read = await readRun(vm.path).catch((error: Error) => error)
  if (read !== undefined && !(read instanceof Error)) return read
  if (!isFree(vmPath(vm.path, 'lock'), locks)) throw untold(vm, read?.message ?? 'it is gone')
  // Nothing lives that a damaged one could tell about.
  await rm(vmPath(vm.path, 'run'), { force: true })
  return undefined
}

const untold = ({ path }: VmPlace, why: string): Failure => {
  const record = vmPath(path, 'run')
  return new Failure(
    'vm_damaged',
    `The VM runs, and its record "${record}" cannot be used: ${why.replace(/\.$/, '')}. Stop it, which ends its hypervisor by force.`,
    { path: record },
  )
}

const readPid = async (folder: string): Promise<number | undefined> => {
  const text = await readFile(vmPath(folder, 'pid'), 'utf8').catch(() => '')
  const pid = Number(text.trim())
  return Number.isInteger(pid) && pid > 0 ? pid : undefined
}

/** What is told of a hypervisor that did not answer within so many milliseconds. */
export const silent = (name: string, ms: number): Failure =>
  new Failure(
    'hypervisor_timeout',
    `The hypervisor of "${name}" did not answer within ${ms / 1000} s. Try again when the host is less busy.`,
    { name },
  )
