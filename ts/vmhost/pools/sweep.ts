/** Removes forks of pools that a service which died has left: nobody knows any more which memory they went on from. */
import type { Host } from '../host/host.ts'
import type { Storage } from '../storage/storage.ts'
import { poolPrefix, vmPath } from '../vms/vm-directory.ts'
import { entriesOf, placeOf, type VmPlace } from '../vms/vm-store.ts'

/** The forks of these storages that wait in a pool. */
export const pooledForksIn = async (storages: readonly Storage[]): Promise<VmPlace[]> => {
  const found = await Promise.all(
    storages.map(async (storage) =>
      (await entriesOf(storage.path))
        .filter((name) => name.startsWith(poolPrefix))
        .map((name) => placeOf(storage, name)),
    ),
  )
  return found.flat()
}

/** Ends and removes those that no living service looks after. */
export const sweepPools = async (
  { locks, machines, store }: Pick<Host, 'locks' | 'machines' | 'store'>,
  storages: readonly Storage[],
): Promise<void> => {
  for (const fork of await pooledForksIn(storages)) {
    using lock = locks.tryTake(vmPath(fork.path, 'work'))
    if (lock === undefined || machines.knows(fork)) continue
    if (machines.isElsewhere(fork)) await machines.end(fork)
    await store.remove(fork)
  }
}
