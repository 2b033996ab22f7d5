/** What handlers work with, and what a handler is. */
import type { Input, Result } from '@backlot/contract/endpoint'
import type { vmHost } from '@backlot/contract/vmhost'
import type { Creations } from './creations.ts'
import type { Bases } from './disks/bases.ts'
import type { Events } from './events.ts'
import type { Listing } from './listing.ts'
import type { LogFile } from './log-file.ts'
import type { Machines } from './machines.ts'
import type { Operations } from './operations.ts'
import type { SettingsFile } from './settings.ts'
import type { Turns } from './turns.ts'
import type { VmStore } from './vm-store.ts'

/** The host that a service stands for. */
export interface Host {
  readonly settings: SettingsFile
  readonly store: VmStore
  readonly machines: Machines
  readonly creations: Creations
  readonly operations: Operations
  readonly events: Events
  readonly listing: Listing
  readonly bases: Bases
  /** One thing at a time is done with a VM; its folder is the key. */
  readonly turns: Turns
  readonly log: LogFile
  /** Milliseconds that a guest has to shut down where who stops it does not say. */
  readonly stopGraceMs: number
  /**
   * Takes charge of the VMs, once; throws `already_running` where another service of the same home has. Whoever only reads
   * need not.
   */
  takeCharge(): void
  /** An address of the console that one browser may open; undefined where no browser reaches it. */
  newLink(): string | undefined
}

type VmHost = typeof vmHost

/** One function for each operation: gives the result or throws a `Failure`. */
export type Handlers = {
  readonly [Name in keyof VmHost]: (input: Input<VmHost[Name]>, host: Host) => Promise<Result<VmHost[Name]>>
}
