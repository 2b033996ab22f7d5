/** How a call ends before it is done. */
import { Failure } from '@backlot/contract/failure'

/** The failure of a call that its caller gave up. */
export const cancelled = (): Failure =>
  new Failure('cancelled', 'The caller cancelled the call. What was sent before stays done.')

/** The failure of a call that its caller gave up before it began. */
export const notBegun = (): Failure =>
  new Failure('cancelled', 'The caller cancelled the call before it began. Nothing was done.')

/** What a call fails with once its signal is aborted. */
export const reasonOf = (signal: AbortSignal): Failure =>
  signal.reason instanceof Failure ? signal.reason : cancelled()
