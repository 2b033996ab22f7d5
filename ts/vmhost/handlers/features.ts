/** What each operation needs of the hypervisor. */
import type { HypervisorFeature } from '@backlot/contract/vmhost/observing'
import type { Handlers } from '../host/host.ts'
import { type HypervisorRow, refuseLacking } from '../hypervisors/lacking.ts'

/** The feature that an operation needs for what it is asked; what is asked of a running VM alone is refused where that is known. */
const needed: {
  readonly [Name in keyof Handlers]?: (input: Parameters<Handlers[Name]>[0]) => HypervisorFeature | false
} = {
  suspendVm: () => 'suspend',
  resumeVm: () => 'suspend',
  takeSnapshot: () => 'snapshots',
  restoreSnapshot: () => 'snapshots',
  forkVm: () => 'forks',
  poolVm: ({ size = 0 }) => size > 0 && 'pools',
  createVm: ({ template }) => template === true && 'templates',
  runVm: ({ sharedDirectories = [] }) => sharedDirectories.length > 0 && 'sharedFolders',
  execInVm: () => 'guestAgent',
  listInterfaces: () => 'guestAgent',
}

/** Throws `feature_missing` where the hypervisor lacks what an operation needs. */
export const refuseOperation = <Name extends keyof Handlers>(
  hypervisor: HypervisorRow,
  name: Name,
  input: Parameters<Handlers[Name]>[0],
): void => {
  const feature = needed[name]?.(input) ?? false
  if (feature !== false) refuseLacking(hypervisor, feature)
}
