/** Several ends, each of which is waited for. */
import { Queue } from '@backlot/contract/queue'

/** Settles when all are done, whatever becomes of some of them; then throws the first failure. */
export const allDone = async (work: readonly (() => unknown)[]): Promise<void> => {
  const ends = await Promise.allSettled(work.map(async (each) => each()))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** As `allDone`, one after the other. */
export const allDoneInOrder = async (work: readonly (() => unknown)[]): Promise<void> => {
  const queue = new Queue()
  await allDone(work.map((each) => () => queue.run(each)))
}
