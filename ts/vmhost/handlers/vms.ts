/** Shows VMs. */
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { Vm } from '@backlot/contract/vmhost/vm'
import type { Handlers, Host } from '../host/host.ts'
import { adoptRunning, creationOf, findVm } from '../lifecycle/find.ts'
import type { Storage } from '../storage/storage.ts'
import { creationRecord, damagedRecord, vmRecord } from '../vms/record.ts'
import { type DamagedVm, isDamaged, type StoredVm } from '../vms/vm-store.ts'

export const listVms: Handlers['listVms'] = async ({ storage }, host) => {
  const storages = await host.store.storages(storage)
  const { events, machines } = host
  return host.listing.get(storages, events.count, machines.count > 0, () => listed(host, storages))
}

const listed = async (host: Host, storages: readonly Storage[]): Promise<Vm[]> => {
  // Looked at first: one that is finished meanwhile is found on disk, and so is in the list all the time.
  const creations = [...host.creations.values()]
  const found = await host.store.listAll(storages)
  const running = host.machines.in(storages)
  const isRunning = (path: string) => running.some((vm) => vm.path === path)
  // What runs is what it was when it was started, whatever became of its folder.
  const stored = found.filter((vm) => !(isDamaged(vm) && isRunning(vm.path)))
  const vms = [...stored, ...running.filter(({ path }) => !stored.some((vm) => vm.path === path))]
  const whole = await Promise.all(vms.map((vm) => recordOf(vm, host)))
  const folders = storages.map(({ path }) => path)
  const made = creations
    .filter(({ place }) => folders.includes(place.storage.path))
    .filter(({ place }) => !vms.some(({ path }) => path === place.path))
    .map((creation) => creationRecord(creation, host))
  return [...whole, ...made]
}

/** The record of a VM in any state: what is wrong with one keeps nobody from seeing the others. */
const recordOf = async (vm: StoredVm | DamagedVm, host: Host): Promise<Vm> => {
  if (isDamaged(vm)) return damagedRecord(vm, vm.damage)
  try {
    const trouble = await adoptRunning(host, vm).then(
      () => undefined,
      (error) => Failure.from(error),
    )
    if (trouble === undefined) return await vmRecord(vm, host)
    host.store.report(trouble)
    if (trouble.code === 'vm_damaged') return await damagedRecord(vm, trouble)
    return { ...(await vmRecord(vm, host)), lastError: trouble.message }
  } catch (error) {
    return damagedRecord(vm, Failure.from(error))
  }
}

export const getVm: Handlers['getVm'] = async ({ name, storage }, host) => {
  const made = await creationOf(host, name, storage)
  if (made !== undefined) return creationRecord(made, host)
  const found = await host.store.look(name, storage)
  if (found === undefined) await refuseFailedPull(host, name, storage)
  const isUnread = found === undefined || (isDamaged(found) && host.machines.get(found.path) !== undefined)
  return recordOf(isUnread ? await findVm(host, name, storage) : found, host)
}

/** Throws `pull_failed` where the VM is not there because its image could not be pulled. */
const refuseFailedPull = async (host: Host, name: string, storage: string | undefined): Promise<void> => {
  for (const { path } of await host.store.storages(storage)) {
    const folder = join(path, name)
    if (host.operations.latest(folder)?.kind !== 'pull') continue
    // What it was making is gone a moment before it has failed.
    const operation = await host.operations.ended(folder)
    if (operation === undefined || operation.cause === null) continue
    const { code, message } = operation.cause
    throw new Failure('pull_failed', `Pull failed for '${name}': ${message}`, { name, cause: code })
  }
}

export const setupVm: Handlers['setupVm'] = async ({ name, storage }, host) => {
  const { settings } = await findVm(host, name, storage)
  throw new Failure(
    'macos_only',
    `"${name}" is a guest with ${settings.guestOs}; only macOS has a setup assistant. Give \`userData\` to its creation instead.`,
    { name },
  )
}
