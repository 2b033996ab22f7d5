/** What QEMU can do with VMs. */
import type { Hypervisor } from '../hypervisor.ts'

export const qemuFeatures: Hypervisor['features'] = {
  suspend: true,
  snapshots: true,
  forks: true,
  pools: true,
  templates: true,
  memoryBalloon: true,
  diskGrowth: true,
  sharedFolders: true,
  guestAgent: true,
}
