/** Where the disk of a new VM comes from. */
import type { Input } from '@backlot/contract/endpoint'
import type { vmHost } from '@backlot/contract/vmhost'
import type { Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import type { Storage } from '../storage/storage.ts'
import type { VmSettings } from '../vms/vm-settings.ts'

/** What a VM is asked to be. */
export type CreateInput = Input<(typeof vmHost)['createVm']>

/** What was found out before anything is made. */
export interface Plan {
  /** What the source adds to the settings. */
  readonly settings: Partial<VmSettings>
  /** Tells what it makes disks of from all else, and from what that was before; absent where nothing does. */
  readonly identity?: string
  /** Whether a computer server answers in its guests once they are up. */
  readonly hasServer?: boolean
  /** Whether the guest looks for a seed even without user data. */
  readonly seeded: boolean
  /** Puts the disk, and what belongs to it, into the folder of the VM; the disk has `bytes`. */
  fill(folder: string, storage: Storage, bytes: number, work: Task): Promise<void>
}

/** A kind of source. */
export interface Source {
  /** Whether the request names a source of this kind. */
  matches(input: CreateInput): boolean
  /** Whether making it takes so long that nobody waits. */
  readonly isLong: boolean
  /** Looks whether it can be had; throws what is wrong with it. */
  plan(input: CreateInput, host: Host): Promise<Plan>
}
