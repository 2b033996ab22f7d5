/** Work that goes on side by side. */

/**
 * Settles when all of it has settled, and throws what failed first in the list: nobody cleans up behind work that still
 * goes on.
 */
export const together = async (work: readonly Promise<unknown>[]): Promise<void> => {
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
}

/** Does the work on each item, on so many at a time and the first ones first; settles and throws as `together` does. */
export const togetherAtMost = async <T>(
  count: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const rest = items.values()
  const failed = new Map<T, unknown>()
  const go = async () => {
    for (const item of rest) await work(item).catch((error) => failed.set(item, error))
  }
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, go))
  for (const item of items) if (failed.has(item)) throw failed.get(item)
}
