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
