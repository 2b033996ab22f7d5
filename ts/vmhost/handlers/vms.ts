/** Shows VMs. */
import { Failure } from '@backlot/contract/failure'
import type { Vm } from '@backlot/contract/vmhost/vm'
import type { Handlers, Host } from '../host.ts'
import { creationOf, findVm, meetRunning } from '../lifecycle/find.ts'
import { creationRecord, vmRecord } from '../record.ts'
import type { Storage } from '../storage.ts'

export const listVms: Handlers['listVms'] = async ({ storage }, host) => {
  const storages = await host.store.storages(storage)
  const { events, machines } = host
  return host.listing.get(storages, events.count, machines.count > 0, () => listed(host, storages))
}

const listed = async (host: Host, storages: readonly Storage[]): Promise<Vm[]> => {
  // Looked at first: one that is finished meanwhile is found on disk, and so is in the list all the time.
  const creations = [...host.creations.values()]
  const stored = await host.store.list(storages)
  const isStored = (path: string) => stored.some((vm) => vm.path === path)
  const vms = [...stored, ...host.machines.in(storages).filter(({ path }) => !isStored(path))]
  await Promise.all(vms.map((vm) => meetRunning(host, vm).catch((error) => reportDamage(host, error))))
  const whole = await Promise.all(vms.map((vm) => vmRecord(vm, host)))
  const folders = storages.map(({ path }) => path)
  const made = creations
    .filter(({ place }) => folders.includes(place.storage.path))
    .filter(({ place }) => !vms.some(({ path }) => path === place.path))
    .map((creation) => creationRecord(creation, host))
  return [...whole, ...made]
}

/** What is wrong with one VM keeps nobody from seeing the others. */
const reportDamage = (host: Host, error: unknown): void => {
  const failure = Failure.from(error)
  if (failure.code !== 'vm_damaged') throw failure
  host.store.report(failure)
}

export const getVm: Handlers['getVm'] = async ({ name, storage }, host) => {
  const made = await creationOf(host, name, storage)
  if (made !== undefined) return creationRecord(made, host)
  return vmRecord(await findVm(host, name, storage), host)
}

export const setupVm: Handlers['setupVm'] = async ({ name, storage }, host) => {
  const { settings } = await findVm(host, name, storage)
  throw new Failure(
    'macos_only',
    `"${name}" is a guest with ${settings.guestOs}; only macOS has a setup assistant. Give \`userData\` to its creation instead.`,
    { name },
  )
}
