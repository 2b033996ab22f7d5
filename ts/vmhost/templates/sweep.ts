/** Removes templates that a service which died was making. */
import type { Host } from '../host/host.ts'
import { isSaved } from '../snapshots/saved-state.ts'
import type { Storage } from '../storage/storage.ts'
import { isTemplate, vmPath, wasRunning } from '../vms/vm-directory.ts'
import { entriesOf, placeOf, type VmPlace } from '../vms/vm-store.ts'

/** The templates of these storages; what is being made is among them. */
export const templatesIn = async (storages: readonly Storage[]): Promise<VmPlace[]> => {
  const found = await Promise.all(
    storages.map(async (storage) =>
      (await entriesOf(storage.path)).filter((name) => isTemplate(name)).map((name) => placeOf(storage, name)),
    ),
  )
  return found.flat()
}

/** Whether nobody has saved it, or its hypervisor may live: nothing is a fork of it yet. */
export const isHalfMade = ({ path }: VmPlace): boolean => !isSaved(path) || wasRunning(path)

/** Ends and removes those that are half made and that nobody makes; `own` is the one that the caller is about to make. */
export const sweepTemplates = async (
  { locks, machines, store, templates }: Pick<Host, 'locks' | 'machines' | 'store' | 'templates'>,
  storages: readonly Storage[],
  own?: VmPlace,
): Promise<void> => {
  for (const template of (await templatesIn(storages)).filter(isHalfMade)) {
    if (template.path !== own?.path && templates.has(template)) continue
    using lock = locks.tryTake(vmPath(template.path, 'work'))
    if (lock === undefined || !isHalfMade(template)) continue
    if (machines.isElsewhere(template)) await machines.end(template)
    await store.remove(template)
  }
}
