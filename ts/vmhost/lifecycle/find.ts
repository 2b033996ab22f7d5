/** The VM that a request means, with what runs of it. */

import { existsSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { fileFailure } from '../files/file-failure.ts'
import type { LockOptions } from '../files/file-locks.ts'
import type { Host } from '../host/host.ts'
import { finishInterruptedMove } from '../vms/move.ts'
import { vmPath, wasRunning } from '../vms/vm-directory.ts'
import { isDamaged, type StoredVm, type VmPlace, vmNotFound } from '../vms/vm-store.ts'

/** The VM of that name; throws `vm_not_found`, `vm_damaged`, and `vm_busy` while it is being made. */
export const findVm = async (host: Host, name: string, storage: string | undefined): Promise<StoredVm> => {
  let vm: StoredVm
  try {
    vm = await host.store.find(name, storage)
  } catch (error) {
    const { code } = Failure.from(error)
    if (code !== 'vm_not_found' && code !== 'vm_damaged') throw error
    // Its hypervisor outlives a folder that somebody removed or damaged, and must be there to be stopped.
    const left = host.machines.in(await host.store.storages(storage)).find((each) => each.name === name)
    if (left !== undefined) return left
    if (code === 'vm_damaged') throw error
    const made = await creationOf(host, name, storage)
    if (made === undefined) throw error
    throw new Failure('vm_busy', `The VM "${name}" is being made; wait for it, or cancel its operation.`, {
      name,
      operationId: made.operationId,
    })
  }
  await adoptRunning(host, vm)
  return vm
}

/** The VM of that name, whether its files can be read or not; throws `vm_not_found`, and `vm_busy` while it is being made. */
export const findAnyVm = async (
  host: Host,
  name: string,
  storage: string | undefined,
): Promise<{ vm: VmPlace; isReadable: boolean }> => {
  try {
    return { vm: await findVm(host, name, storage), isReadable: true }
  } catch (error) {
    if (Failure.from(error).code !== 'vm_damaged') throw error
    const vm = await host.store.look(name, storage)
    if (vm === undefined) throw error
    return { vm, isReadable: !isDamaged(vm) }
  }
}

/** What is being made under that name, where it is looked for. */
export const creationOf = async (host: Host, name: string, storage: string | undefined) => {
  const folders = (await host.store.storages(storage)).map(({ path }) => path)
  return [...host.creations.values()].find(({ place }) => place.name === name && folders.includes(place.storage.path))
}

/** Finds the hypervisor of a VM in a folder that is no location, which nobody looked through at the start. */
export const adoptRunning = async (host: Host, vm: StoredVm): Promise<void> => {
  const isUnknown = () => !host.machines.knows(vm) && wasRunning(vm.path)
  if (!isUnknown()) return
  try {
    await host.lockHome()
  } catch {
    // Another service looks after it; this one can only look.
    return
  }
  await host.turns.take(vm.path, async () => {
    if (isUnknown()) await adoptIfFree(host, vm)
  })
}

/** Finds the machine of a VM that no other service works on or looks after. */
export const adoptIfFree = async (
  { locks, machines }: Pick<Host, 'locks' | 'machines'>,
  vm: StoredVm,
): Promise<void> => {
  using lock = locks.tryTake(vmPath(vm.path, 'work'))
  if (lock !== undefined) await machines.adopt(vm)
}

/** The VM as it is now, for whoever has its turn: others may have changed it, or begun to move it and died. */
export const reread = async ({ store }: Host, place: VmPlace): Promise<StoredVm> => {
  const vm = await store.reread(place)
  return (await finishInterruptedMove(store, vm)) ? store.reread(place) : vm
}

/** Milliseconds for which a request waits until others are done with a VM. */
const patienceMs = 15_000

/**
 * Does work on a VM when nobody else does, in this service or another. Throws `vm_busy` where that lasts too long,
 * `already_running` where another service looks after its hypervisor, `lock_refused`, `disk_full`, and when cancelled.
 */
export const exclusively = async <T>(
  host: Host,
  vm: VmPlace,
  work: () => Promise<T>,
  signal?: AbortSignal | undefined,
): Promise<T> => {
  await host.lockHome()
  const deadline = performance.now() + patienceMs
  const locked = async () => {
    using _lock = await lockOf(host, vm, { signal, patienceMs: deadline - performance.now() })
    return await work().catch((error) => {
      throw fileFailure(error, vm.storage.path)
    })
  }
  return host.turns.take(vm.path, locked, { signal, patienceMs, tooLong: () => busy(host, vm) })
}

const lockOf = async (host: Host, vm: VmPlace, waiting: LockOptions): Promise<Disposable> => {
  const whileHeld = (isLate: boolean) => {
    if (host.machines.isElsewhere(vm)) throw ownedByOtherService(vm)
    if (!isLate) return
    throw new Failure('vm_busy', `Another service works on "${vm.name}"; wait for it, or use that one.`, {
      name: vm.name,
    })
  }
  try {
    return await host.locks.take(vmPath(vm.path, 'work'), { ...waiting, whileHeld })
  } catch (error) {
    if (Failure.from(error).code !== 'lock_refused' || existsSync(vm.path)) throw error
    throw vmNotFound(vm.name)
  }
}

const busy = (host: Host, vm: VmPlace): Failure => {
  const operation = host.operations.latest(vm.path)
  return new Failure(
    'vm_busy',
    `Something else is being done with "${vm.name}"${operation === undefined ? '' : ` (${operation.kind})`}; wait for it, or cancel its operation.`,
    { name: vm.name, ...(operation !== undefined && { operationId: operation.id }) },
  )
}

/** That the VM runs, and this service is not the one that can do something about it. */
export const ownedByOtherService = ({ name, path }: VmPlace): Failure =>
  new Failure('already_running', `Another service looks after the VM "${name}", which runs; use that one, or end it.`, {
    name,
    path,
  })

/** Throws `already_running` where another service looks after the VM, which runs. */
export const refuseElsewhere = ({ machines, locks }: Host, vm: VmPlace): void => {
  if (!machines.isElsewhere(vm)) return
  using lock = locks.tryTake(vmPath(vm.path, 'work'))
  if (lock === undefined) throw ownedByOtherService(vm)
}
