/** Keeps VMs as they are, and makes them again what they were. */
import { setClock } from '../forks/clock.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import type { Machine, MemoryImage } from '../hypervisors/hypervisor.ts'
import { readSaved } from '../snapshots/saved-state.ts'
import {
  deleteSnapshotOf,
  keepSnapshot,
  refuseTakenName,
  restore,
  snapshotOf,
  snapshotsOf,
} from '../snapshots/snapshot-store.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { collectBases } from './collect.ts'
import { exclusively, findVm, refuseElsewhere, reread } from './find.ts'

const stopFirst = 'Stop it first to restore a snapshot.'

export const listSnapshots: Handlers['listSnapshots'] = async ({ name, storage }, host) =>
  snapshotsOf(await findVm(host, name, storage))

export const takeSnapshot: Handlers['takeSnapshot'] = async ({ name, snapshot, storage }, host) => {
  const vm = await findVm(host, name, storage)
  refuseTakenName(vm, snapshot)
  await host.lockHome()
  refuseElsewhere(host, vm)
  const take = async (work: Task) => {
    refuseTakenName(vm, snapshot)
    const machine = host.machines.get(vm.path)
    const keep = async () => {
      work.step('keeping the disk')
      await keepSnapshot(host.bases, await reread(host, vm), snapshot, work.signal)
    }
    if (machine === undefined) return keep()
    await machine.suspend(work)
    try {
      await keep()
    } finally {
      await resumeAfterSnapshot(host, vm, work)
    }
  }
  const { done } = host.operations.begin('snapshot', vm, (work) => exclusively(host, vm, () => take(work), work.signal))
  await done
  return snapshotOf(vm, snapshot)
}

/** Lets a VM go on that was suspended for a moment, whoever has cancelled the rest; from an image of its memory where there is one. */
export const resumeAfterSnapshot = async (
  host: Host,
  place: VmPlace,
  work: Task,
  image?: MemoryImage | undefined,
): Promise<Machine | undefined> => {
  const vm = await reread(host, place)
  const saved = await readSaved(vm.path)
  if (saved === undefined) return undefined
  work.step('going on')
  host.machines.announce(vm)
  const { hasDisplay, sharedDirectories } = saved
  const options = { hasDisplay, sharedDirectories: sharedDirectories ?? [], saved, image }
  const machine = await host.machines.start(vm, options, { ...work, signal: new AbortController().signal })
  // A fork is given more than the time by whoever lets it go on.
  if (vm.settings.guestMacAddress === undefined) setClock(machine)
  return machine
}

export const restoreSnapshot: Handlers['restoreSnapshot'] = async ({ name, snapshot, storage }, host) => {
  const vm = await findVm(host, name, storage)
  await snapshotOf(vm, snapshot)
  host.machines.refuseRunning(vm, stopFirst)
  const { done } = host.operations.begin('restore', vm, (work) => {
    const again = async () => {
      host.machines.refuseRunning(vm, stopFirst)
      work.step('laying the disk')
      await restore(host.bases, await reread(host, vm), snapshot)
    }
    return exclusively(host, vm, again, work.signal)
  })
  await done
  host.events.emit({ type: 'vm', name, location: vm.storage.name, status: host.machines.status(vm) })
  await collectBases(host, vm.storage)
  return { message: `Virtual machine restored: ${name} to ${snapshot}` }
}

export const deleteSnapshot: Handlers['deleteSnapshot'] = async ({ name, snapshot, storage }, host) => {
  const vm = await findVm(host, name, storage)
  await exclusively(host, vm, () => deleteSnapshotOf(vm, snapshot))
  await collectBases(host, vm.storage)
  return { message: `Snapshot deleted: ${snapshot} of ${name}` }
}
