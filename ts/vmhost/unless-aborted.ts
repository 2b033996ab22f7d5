/** Work that is not waited for any more when it is cancelled. */
import { addAbortListener } from 'node:events'

/** What comes of the work; throws the signal's reason at once where that is aborted, whatever the work does then. */
export const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  if (signal.aborted) reject(signal.reason)
  using _cancelling = addAbortListener(signal, () => reject(signal.reason))
  return await Promise.race([promise, work])
}
