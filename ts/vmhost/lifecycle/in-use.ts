/** Locations that VMs need to be found in. */
import { Failure } from '@backlot/contract/failure'
import type { Host } from '../host/host.ts'
import type { Storage } from '../storage/storage.ts'
import type { VmPlace } from '../vms/vm-store.ts'

/**
 * Throws `location_in_use` where a VM of the location runs or is being made: it would go on in no list, and be found by
 * no service after this one. `what` is not to be done then.
 */
export const refuseInUse = async (host: Host, location: Storage, what: string): Promise<void> => {
  // One that cannot be read is to be got rid of.
  const stored = await host.store.listAll([location]).catch(() => [])
  const running = [...stored.filter((vm) => runs(host, vm)), ...host.machines.in([location])][0]
  const made = [...host.creations.values()].find(({ place }) => place.storage.path === location.path)?.place
  const vm = running ?? made
  if (vm === undefined) return
  const next = vm === made ? 'is being made; wait for it, or cancel its operation.' : 'runs; stop it first.'
  throw new Failure('location_in_use', `Cannot ${what}: the VM "${vm.name}" there ${next}`, {
    name: location.name,
    vm: vm.name,
  })
}

const runs = ({ machines }: Host, vm: VmPlace): boolean => {
  try {
    return !['stopped', 'suspended'].includes(machines.status(vm))
  } catch {
    // What cannot be told of a damaged one keeps nobody from removing the location.
    return false
  }
}
