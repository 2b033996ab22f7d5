/** What a call carries through every step: its caller, its end, and the driver it acts through. */
import { Failure } from '@backlot/contract/failure'
import type { Driver } from './driver.ts'

/** Who calls, and until when. */
export interface CallContext {
  /** Id of the connection. */
  readonly client: string
  /** Ends the call when it aborts. */
  readonly signal: AbortSignal
}

/** What a tool's handler is given beside its arguments. */
export interface Call extends CallContext {
  readonly driver: Driver
}

/** The failure of a call that its caller gave up. */
export const cancelled = (): Failure =>
  new Failure('cancelled', 'The caller cancelled the call. What was sent before stays done.')
