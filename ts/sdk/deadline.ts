/** How long a call may take, and how it is cancelled. */
import { type CallOptions, usualTimeoutMs } from './basics.ts'
import { invalidArgument, TimeoutError } from './errors.ts'

/** Milliseconds of the longest timer that JavaScript has; a longer limit is none. */
const longestTimerMs = 2_147_483_647

/** The limit of a call. Throws `invalid_argument` for what is no number of milliseconds; `Infinity` is none. */
export const timeoutOf = (options: CallOptions | undefined, usualMs: number = usualTimeoutMs): number => {
  const timeoutMs = options?.timeoutMs ?? usualMs
  if (typeof timeoutMs === 'number' && timeoutMs >= 0) return timeoutMs
  throw invalidArgument('timeoutMs', `"timeoutMs" is ${timeoutMs}; it takes milliseconds, 0 or more, or Infinity.`)
}

/** A timer, or none for a limit that no timer has. */
export const timerFor = (ms: number, end: () => void): ReturnType<typeof setTimeout> | undefined =>
  ms > longestTimerMs ? undefined : setTimeout(end, ms)

/** The error of a call that took longer than its limit. */
export const tookTooLong = (what: string, timeoutMs: number): TimeoutError =>
  new TimeoutError('timeout', `${what} took longer than ${timeoutMs} ms; allow more with "timeoutMs".`, {
    data: { timeoutMs },
  })

/**
 * Does work that ends at its limit or by the caller's signal, whichever comes first, whether or not the work heeds the signal
 * that it is given. Throws the caller's `signal.reason`, or `timeout` that names `what`.
 */
export const withDeadline = async <T>(
  options: CallOptions | undefined,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
  usualMs: number = usualTimeoutMs,
): Promise<T> => {
  const timeoutMs = timeoutOf(options, usualMs)
  const { ending, over } = endingOf(options?.signal, timeoutMs, () => tookTooLong(what, timeoutMs))
  try {
    return await orAborted(ending.signal, work(ending.signal))
  } finally {
    over()
  }
}

/** What ends work with its caller's signal; `over` lets go of that. Throws the reason of one that has been aborted. */
export const followerOf = (caller: AbortSignal | undefined) => {
  caller?.throwIfAborted()
  const ending = new AbortController()
  const cancel = () => ending.abort(caller?.reason)
  caller?.addEventListener('abort', cancel, { once: true })
  return { ending, over: () => caller?.removeEventListener('abort', cancel) }
}

/** What ends work: its caller's signal, or its limit with the error of that; `over` lets go of both. */
export const endingOf = (caller: AbortSignal | undefined, limitMs: number, tooLate: () => Error) => {
  const { ending, over: letGo } = followerOf(caller)
  const timer = timerFor(limitMs, () => ending.abort(tooLate()))
  const over = () => {
    clearTimeout(timer)
    letGo()
  }
  return { ending, over }
}

/** What the work gives, or the reason of the signal once that comes first. */
export const orAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((settle, refuse) => {
    const cancel = () => refuse(signal.reason)
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    work.then(settle, refuse).finally(() => signal.removeEventListener('abort', cancel))
  })

/** Settles after a while; throws the reason of the signal. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<void>((settle) => {
    timer = setTimeout(settle, ms)
  })
  return orAborted(signal, over).finally(() => clearTimeout(timer))
}
