/** Changes a VM: its settings while it is stopped, what its hypervisor can change while it runs. */
import { Failure } from '@backlot/contract/failure'
import { sizeOf } from '@backlot/contract/fields/size'
import { core } from '../core.ts'
import { ownDisk } from '../disks/own-disk.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import type { Machine } from '../hypervisors/hypervisor.ts'
import { refuseLacking } from '../hypervisors/lacking.ts'
import { sizeOfPool } from '../pools/pool-file.ts'
import { refuseLosing } from '../snapshots/snapshot-store.ts'
import type { Storage } from '../storage/storage.ts'
import { finishMove } from '../vms/move.ts'
import { vmPath } from '../vms/vm-directory.ts'
import { writeVmSettings } from '../vms/vm-settings.ts'
import { placeOf, type StoredVm, type VmPlace, vmNotFound } from '../vms/vm-store.ts'
import { copyVm } from './clone.ts'
import { collectBases } from './collect.ts'
import { diskBytesOf, displayOf, memoryBytesOf } from './create.ts'
import { exclusively, findVm, refuseElsewhere, reread } from './find.ts'

/** What is to change, in the terms of the host. */
interface Changes {
  readonly cpu?: number
  readonly memoryBytes?: number
  readonly display?: StoredVm['settings']['display']
  readonly diskBytes?: number
  readonly storage?: Storage
}

export const updateVm: Handlers['updateVm'] = async ({ name, storage, sourceLocation, ...wanted }, host) => {
  const target = storage === undefined ? undefined : await host.store.target(storage)
  const vm = await (sourceLocation === undefined
    ? findToChange(host, name, storage)
    : findVm(host, name, sourceLocation))
  const changes: Changes = {
    ...(wanted.cpu !== undefined && { cpu: wanted.cpu }),
    ...(wanted.memory !== undefined && { memoryBytes: memoryBytesOf(wanted.memory) }),
    ...(wanted.display !== undefined && { display: displayOf(wanted.display) }),
    ...(wanted.diskSize !== undefined && { diskBytes: diskBytesOf(wanted.diskSize) }),
    ...(target !== undefined && target.path !== vm.storage.path && { storage: target }),
  }
  if (Object.keys(changes).length === 0) return { message: 'Nothing to change' }
  await host.lockHome()
  refuseElsewhere(host, vm)
  const { done } = host.operations.begin('set', vm, (work) => {
    const change = async () => {
      const current = await reread(host, vm)
      await refuseShrinking(current, changes.diskBytes)
      const machine = host.machines.get(vm.path)
      if (machine !== undefined) {
        refuseLackingChange(host, changes)
        await changeRunning(current, machine, changes, work.signal)
      } else await changeStopped(host, current, changes, work)
    }
    return exclusively(host, vm, change, work.signal)
  })
  await done
  return { message: `Virtual machine updated: ${name}` }
}

/** Where the VM is not in `storage` yet, that is where it is to go. */
const findToChange = async (host: Host, name: string, storage: string | undefined): Promise<StoredVm> => {
  const isUnknown = (error: unknown) => Failure.from(error).code === 'vm_not_found'
  return findVm(host, name, storage).catch((error) => {
    if (storage === undefined || !isUnknown(error)) throw error
    return findVm(host, name, undefined).catch((error) => {
      if (!isUnknown(error)) throw error
      throw vmNotFound(name, 'It is in no location; `sourceLocation` names the folder that it is in.')
    })
  })
}

const diskSize = async (vm: StoredVm): Promise<number> => (await ownDisk(vmPath(vm.path, 'disk'))).disk.virtual_size

const refuseShrinking = async (vm: StoredVm, bytes: number | undefined): Promise<void> => {
  if (bytes === undefined) return
  const present = await diskSize(vm)
  if (bytes >= present) return
  throw new Failure(
    'disk_not_shrunk',
    `The disk of "${vm.name}" has ${sizeOf(present)} and cannot shrink to ${sizeOf(bytes)}; give a larger size.`,
    { name: vm.name },
  )
}

const changeStopped = async (host: Host, vm: StoredVm, changes: Changes, work: Task): Promise<void> => {
  host.machines.refuseRunning(vm, 'Wait until it has started.')
  host.machines.refuseSuspended(vm, 'Resume it first to change it.')
  const { cpu, memoryBytes, display, diskBytes, storage } = changes
  // Before anything is changed. The disk grows where it goes to: it does not shrink again.
  if (storage !== undefined) {
    await host.store.refuseTaken(placeOf(storage, vm.name))
    await refuseLosing(vm)
  }
  const settings = {
    ...vm.settings,
    ...(cpu !== undefined && { cpu }),
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(display !== undefined && { display }),
  }
  if (storage === undefined) {
    if (diskBytes !== undefined && diskBytes > (await diskSize(vm)))
      await core().resizeDisk(vmPath(vm.path, 'disk'), diskBytes)
    return writeVmSettings(vm.path, settings)
  }
  await move(host, vm, storage, settings, diskBytes, work)
}

/** Copies the VM under its new settings into another storage, and removes it where it was. */
const move = async (
  host: Host,
  vm: StoredVm,
  storage: Storage,
  settings: StoredVm['settings'],
  diskBytes: number | undefined,
  work: Task,
): Promise<void> => {
  const target = placeOf(storage, vm.name).path
  const moved = { ...settings, movedFrom: vm.path }
  // Whoever comes after a service that died here finds each side by the other.
  await writeVmSettings(vm.path, { ...vm.settings, movingTo: target })
  let isThere = false
  const settle = async (place: VmPlace) => {
    isThere = true
    host.events.emit({ type: 'vm', name: vm.name, location: storage.name, status: 'stopped' })
    await finishMove(host.store, { ...place, settings: moved })
    host.pools.keep(place, sizeOfPool(place.path))
    host.events.emit({ type: 'vm', name: vm.name, location: vm.storage.name, status: null })
  }
  const copy = () =>
    copyVm(host, vm, storage, vm.name, moved, work, { settle, ...(diskBytes !== undefined && { diskBytes }) })
  try {
    await host.turns.take(target, copy, { signal: work.signal })
  } catch (error) {
    if (!isThere) await writeVmSettings(vm.path, vm.settings).catch(() => undefined)
    throw error
  }
  await collectBases(host, vm.storage)
}

/** Throws `feature_missing` where the hypervisor cannot change a VM so that runs. */
const refuseLackingChange = ({ machines: { hypervisor } }: Host, { diskBytes, memoryBytes }: Changes): void => {
  if (diskBytes !== undefined) refuseLacking(hypervisor, 'diskGrowth')
  if (memoryBytes !== undefined) refuseLacking(hypervisor, 'memoryBalloon')
}

const changeRunning = async (vm: StoredVm, machine: Machine, changes: Changes, signal: AbortSignal): Promise<void> => {
  const { diskBytes, memoryBytes, ...cold } = changes
  const [first] = Object.keys(cold)
  const isMore = memoryBytes !== undefined && memoryBytes > machine.memoryBytes
  if (first !== undefined || isMore) {
    const what = first ?? 'memory beyond what it was started with'
    throw new Failure(
      'vm_running',
      `Virtual machine is running: "${vm.name}". Stop it first to change ${what}; its disk can grow and its memory shrink.`,
      { name: vm.name },
    )
  }
  // A disk does not shrink again: it grows when nothing else can be refused any more.
  const grow = async () => {
    if (diskBytes !== undefined && diskBytes > (await diskSize(vm))) await machine.growDisk(diskBytes)
  }
  if (memoryBytes === undefined) return grow()
  if (!(await machine.setMemory(memoryBytes, signal))) {
    throw new Failure(
      'vm_running',
      `The guest in "${vm.name}" does not give so much memory back; leave it more, or stop it first to change its memory.`,
      { name: vm.name },
    )
  }
  try {
    signal.throwIfAborted()
    await grow()
  } catch (error) {
    await machine.setMemory(vm.settings.memoryBytes, signal).catch(() => undefined)
    throw error
  }
  await writeVmSettings(vm.path, { ...vm.settings, memoryBytes })
}
