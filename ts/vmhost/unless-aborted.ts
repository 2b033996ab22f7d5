/** Work that is not waited for any more when it is cancelled. */

/** What comes of the work; throws the signal's reason at once where that is aborted, whatever the work does then. */
export const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const cancel = () => reject(signal.reason)
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel)
  try {
    return await Promise.race([promise, work])
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
