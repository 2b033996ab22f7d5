/** Work on many things, some at a time. */

/** Does `work` with each item, at most `atOnce` at a time; where one fails no further is begun, and its error is thrown. */
export const eachOf = async <T>(
  items: readonly T[],
  atOnce: number,
  signal: AbortSignal,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> => {
  let next = 0
  const errors: unknown[] = []
  const lane = async () => {
    while (next < items.length && errors.length === 0 && !signal.aborted) {
      const index = next++
      await work(items[index] as T, index).catch((error) => errors.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane))
  signal.throwIfAborted()
  if (errors.length > 0) throw errors[0]
}
