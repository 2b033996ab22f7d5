/** The VM that a request means, with what runs of it. */
import { Failure } from '@backlot/contract/failure'
import { fileFailure } from '../file-failure.ts'
import type { Host } from '../host.ts'
import { settleMove } from '../move.ts'
import { wasRunning } from '../vm-directory.ts'
import type { StoredVm, VmPlace } from '../vm-store.ts'

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
  await meetRunning(host, vm)
  return vm
}

/** What is being made under that name, where it is looked for. */
export const creationOf = async (host: Host, name: string, storage: string | undefined) => {
  const folders = (await host.store.storages(storage)).map(({ path }) => path)
  return [...host.creations.values()].find(({ place }) => place.name === name && folders.includes(place.storage.path))
}

/** Finds the hypervisor of a VM in a folder that is no location, which nobody looked through at the start. */
export const meetRunning = async (host: Host, vm: StoredVm): Promise<void> => {
  const isUnknown = () => !host.machines.knows(vm) && wasRunning(vm.path)
  if (!isUnknown()) return
  try {
    host.takeCharge()
  } catch {
    // Another service looks after it; this one can only look.
    return
  }
  await host.turns.take(vm.path, async () => {
    if (isUnknown()) await host.machines.adopt(vm)
  })
}

/** The VM as it is now, for whoever has its turn: others may have changed it, or begun to move it and died. */
export const afresh = async ({ store }: Host, place: VmPlace): Promise<StoredVm> => {
  const vm = await store.reread(place)
  return (await settleMove(store, vm)) ? store.reread(place) : vm
}

/** Milliseconds for which a request waits until others are done with a VM. */
const patienceMs = 15_000

/** Does work on a VM when nobody else does; throws `vm_busy` where that lasts too long, and `disk_full`. */
export const alone = <T>(host: Host, vm: VmPlace, work: () => Promise<T>): Promise<T> => {
  host.takeCharge()
  const told = () =>
    work().catch((error) => {
      throw fileFailure(error, vm.storage.path)
    })
  return host.turns.take(vm.path, told, patienceMs, () => {
    const operation = host.operations.latest(vm.path)
    return new Failure(
      'vm_busy',
      `Something else is being done with "${vm.name}"${operation === undefined ? '' : ` (${operation.kind})`}; wait for it, or cancel its operation.`,
      { name: vm.name, ...(operation !== undefined && { operationId: operation.id }) },
    )
  })
}
