/** Warm pools: forks of suspended VMs that run already, each under a hidden name until somebody wants it. */
import type { Task } from '../host/operations.ts'
import type { StoredVm, VmPlace } from '../vms/vm-store.ts'

/** A fork that is asked for. */
export interface ForkRequest {
  readonly name: string
  /** Its user data, given that of its parent. */
  userDataOf(userData: string): string
}

/** Whether a guest has what makes it another machine than its parent. */
export type Identity = 'own' | 'shared'

/** How full a pool is. */
export interface PoolState {
  readonly ready: number
  /** Whether there are to be fewer than were asked for, because memory is short. */
  readonly isMemoryShort: boolean
}

/** The pools of a host. */
export interface Pools extends AsyncDisposable {
  /** Keeps so many forks of that VM ready from now on; 0 ends its pool. What it takes is done later. */
  keep(parent: VmPlace, size: number): void
  /** How full the pool of that VM is. */
  state(parent: VmPlace): PoolState
  /** Hands out a fork that is ready, under its name; undefined where there is none, or it cannot be used. */
  take(parent: StoredVm, asked: ForkRequest, work: Task): Promise<Identity | undefined>
  /** Makes no more forks from now on; those under way are operations, to be cancelled. */
  stop(): void
}
