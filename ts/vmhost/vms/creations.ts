/** VMs that are being made: shown, but none yet. */
import type { VmSettings } from './vm-settings.ts'
import type { VmPlace } from './vm-store.ts'

/** One of them. */
export interface Creation {
  readonly place: VmPlace
  readonly settings: VmSettings
  readonly diskBytes: number
  readonly operationId: string
}

/** Those of a host, by the folders that they will have. */
export type Creations = Map<string, Creation>
