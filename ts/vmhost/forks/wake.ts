/** What is left to do once a fork has gone on for the first time. */
import type { Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import type { Machine } from '../hypervisors/hypervisor.ts'
import { writeVmSettings } from '../vms/vm-settings.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { setClock } from './clock.ts'
import { assignIdentity } from './identity.ts'

/**
 * Gives the guest of a fork what is to be its own, where it has not been asked to take it yet, and says what it has; every other
 * guest is given the time.
 */
export const finishIdentity = async (
  host: Host,
  place: VmPlace,
  machine: Machine,
  work: Task,
): Promise<'own' | 'shared'> => {
  const vm = await host.store.reread(place)
  const { guestMacAddress, identity = 'own', ...settings } = vm.settings
  if (guestMacAddress === undefined) {
    setClock(machine)
    return identity
  }
  work.step(`giving ${place.name} an identity`)
  const given = (await assignIdentity(machine, vm, guestMacAddress)) ? 'own' : 'shared'
  await writeVmSettings(vm.path, { ...settings, identity: given })
  return given
}
