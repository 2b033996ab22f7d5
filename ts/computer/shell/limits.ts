/** What ends a command early. */
import { addAbortListener } from 'node:events'

/** Who ended a command: its time was over, or its caller hung up. */
export type EndedBy = 'time' | 'caller'

/** Calls `stop` once its time is over or its caller hangs up, until it is disposed of. */
export const stopAtDeadline = (
  timeoutMs: number | undefined,
  signal: AbortSignal,
  stop: (by: EndedBy) => void,
): Disposable => {
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop('time'), timeoutMs)
  const hangUp = addAbortListener(signal, () => stop('caller'))
  return {
    [Symbol.dispose]() {
      clearTimeout(timer)
      hangUp[Symbol.dispose]()
    },
  }
}
