/** What ends a command early. */

/** Who ended a command: its time was over, or its caller hung up. */
export type EndedBy = 'time' | 'caller'

/** Calls `stop` once its time is over or its caller hangs up, until it is disposed of. */
export const stopEarly = (
  timeoutMs: number | undefined,
  signal: AbortSignal,
  stop: (by: EndedBy) => void,
): Disposable => {
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop('time'), timeoutMs)
  const hangUp = () => stop('caller')
  signal.addEventListener('abort', hangUp, { once: true })
  return {
    [Symbol.dispose]() {
      clearTimeout(timer)
      signal.removeEventListener('abort', hangUp)
    },
  }
}
