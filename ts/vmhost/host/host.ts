/** What handlers work with, and what a handler is. */
import type { Input, Result } from '@backlot/contract/endpoint'
import type { vmHost } from '@backlot/contract/vmhost'
import type { Bases } from '../disks/bases.ts'
import type { FileLocks } from '../files/file-locks.ts'
import type { MemoryImages } from '../forks/memory-images.ts'
import type { Transfers } from '../images/transfers.ts'
import type { Pools } from '../pools/pools.ts'
import type { TemplatesInUse } from '../templates/in-use.ts'
import type { Creations } from '../vms/creations.ts'
import type { VmStore } from '../vms/vm-store.ts'
import type { Events } from './events.ts'
import type { KeyedLock } from './keyed-lock.ts'
import type { Listing } from './listing.ts'
import type { LogFile } from './log-file.ts'
import type { Machines } from './machines.ts'
import type { Operations } from './operations.ts'
import type { SettingsFile } from './settings.ts'

/** The host that a service stands for. */
export interface Host {
  readonly settings: SettingsFile
  readonly store: VmStore
  readonly machines: Machines
  readonly creations: Creations
  readonly operations: Operations
  readonly events: Events
  readonly transfers: Transfers
  readonly listing: Listing
  readonly bases: Bases
  readonly images: MemoryImages
  readonly pools: Pools
  readonly templates: TemplatesInUse
  /** One thing at a time is done with a VM in this service; its folder is the key. */
  readonly turns: KeyedLock
  /** And in all services: who works on a VM, or looks after its hypervisor, holds its lock. */
  readonly locks: FileLocks
  readonly log: LogFile
  /** Milliseconds that a guest has to shut down where who stops it does not say. */
  readonly stopGraceMs: number
  /** Path of the executable, for guests that run it; undefined where the service runs from its sources and none is built. */
  readonly executable: string | undefined
  /**
   * Takes charge of the VMs, once, and takes up what a service before this one has left; throws `already_running` where
   * another service of the same home has charge of them. Whoever only reads need not.
   */
  lockHome(): Promise<void>
  /** An address of the console that one browser may open; undefined where no browser reaches it. */
  newLink(): string | undefined
}

type VmHost = typeof vmHost

/**
 * One function for each operation: gives the result or throws a `Failure`. The signal is aborted when the caller goes away;
 * what goes on without them does not look at it.
 */
export type Handlers = {
  readonly [Name in keyof VmHost]: (
    input: Input<VmHost[Name]>,
    host: Host,
    signal?: AbortSignal,
  ) => Promise<Result<VmHost[Name]>>
}
