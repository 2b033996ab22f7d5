/** One program at a time works on a sandbox. */
import type { CallOptions } from '../../basics.ts'
import { pause, timeoutOf, withDeadline } from '../../deadline.ts'
import { ConflictError } from '../../errors.ts'
import type { Records } from '../../state/records.ts'

/** Milliseconds that another's work is waited for at most, and between two looks. */
const patienceMs = 5_000
const pollIntervalMs = 20

/** Does work on a sandbox that nobody else works on meanwhile; throws `sandbox_busy` where somebody does for long. */
export const withLock = async <T>(
  records: Records,
  name: string,
  options: CallOptions,
  work: () => Promise<T>,
): Promise<T> => {
  const allowedMs = Math.min(patienceMs, timeoutOf(options))
  const deadline = performance.now() + allowedMs
  const lock = await withDeadline({ ...options, timeoutMs: Number.POSITIVE_INFINITY }, `"${name}"`, async (signal) => {
    for (;;) {
      const taken = await records.tryLock(name)
      if (taken !== undefined) {
        if (!signal.aborted) return taken
        await taken.release()
        throw signal.reason
      }
      if (performance.now() > deadline) {
        throw new ConflictError(
          'sandbox_busy',
          `Another program works on the sandbox "${name}". Try again when that has ended.`,
          { data: { name }, retryable: true },
        )
      }
      await pause(pollIntervalMs, signal)
    }
  })
  try {
    return await work()
  } finally {
    await lock.release()
  }
}
