/** Several ends, each of which is waited for. */

/** Settles when all are done, whatever becomes of some of them; then throws the first failure. */
export const allDone = async (work: readonly (() => unknown)[]): Promise<void> => {
  const ends = await Promise.allSettled(work.map(async (each) => each()))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** As `allDone`, one after the other. */
export const allDoneInOrder = async (work: readonly (() => unknown)[]): Promise<void> => {
  let last: Promise<unknown> = Promise.resolve()
  await allDone(
    work.map((each) => () => {
      const next = last.then(each)
      last = next.catch(() => undefined)
      return next
    }),
  )
}
