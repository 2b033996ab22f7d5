/** Waiting until what an application says of its elements is as wanted. */
import type { Call } from '../context.ts'

/** Milliseconds until it is read again where no event comes. */
const readEveryMs = 50

/** Reads until the answer is as wanted, again after each event of the application; gives the last answer when the time is over. */
export const readUntil = async <T>(
  call: Call,
  pid: number,
  timeoutMs: number,
  read: () => Promise<T>,
  isWanted: (answer: T) => boolean,
): Promise<T> => {
  const accessibility = await call.driver.accessibility()
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const events = accessibility.generation(pid)
    const answer = await read()
    const remaining = deadline - performance.now()
    if (isWanted(answer) || remaining <= 0 || call.signal.aborted) return answer
    await accessibility.waitForEvent(pid, events, Math.ceil(Math.min(remaining, readEveryMs)))
  }
}
