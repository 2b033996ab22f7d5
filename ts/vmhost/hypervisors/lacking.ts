/** Refuses what the hypervisor of the host cannot do. */
import { Failure } from '@backlot/contract/failure'
import type { HypervisorFeature } from '@backlot/contract/vmhost/observing'
import type { Hypervisor } from './hypervisor.ts'

/** What is known of a hypervisor without asking it. */
export type HypervisorRow = Pick<Hypervisor, 'name' | 'features'>

/** What each feature is called in a sentence, and what can be done where there is none. */
const lacking: Readonly<Record<HypervisorFeature, readonly [what: string, next: string]>> = {
  suspend: ['save the memory of VMs', 'Stop the VM instead'],
  snapshots: ['keep snapshots', 'Stop the VM and clone it instead'],
  forks: ['fork VMs', 'Stop the VM and clone it instead'],
  pools: ['keep forks ready', 'Stop the VM and clone it when one is needed'],
  templates: ['make VMs of a saved first boot', 'Create the VM without `template`'],
  memoryBalloon: ['change the memory of a VM that runs', 'Stop the VM first'],
  diskGrowth: ['grow the disk of a VM that runs', 'Stop the VM first'],
  sharedFolders: ['share folders with guests', 'Run the VM without them, and copy files over its network'],
  guestAgent: ['act inside guests', "Use the guest's SSH server instead"],
}

/** Throws `feature_missing` where a hypervisor lacks it. */
export const refuseLacking = ({ name, features }: HypervisorRow, feature: HypervisorFeature): void => {
  if (features[feature]) return
  const [what, next] = lacking[feature]
  throw new Failure('feature_missing', `The hypervisor "${name}" cannot ${what}. ${next}.`, {
    feature,
    hypervisor: name,
  })
}
