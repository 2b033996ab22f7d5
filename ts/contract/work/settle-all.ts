/**
 * Settles when all of the work has settled, and throws what failed first in the list: nobody cleans up behind work that
 * still goes on.
 */
export const settleAll = async (work: readonly Promise<unknown>[]): Promise<void> => {
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
}
