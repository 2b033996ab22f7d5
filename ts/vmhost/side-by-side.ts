/** Work that goes on side by side. */

/** Lets so much work go on at a time; what came first begins first, and what failed makes room like any other. */
export const atMost = (count: number): (<T>(work: () => Promise<T>) => Promise<T>) => {
  let free = count
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
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
