/** Waiting for a condition, the only waiting that tests do. */
import { appendFileSync } from 'node:fs'

/** Milliseconds after which a condition counts as never met; far more than any needs, because machines are busy. */
const usualPatienceMs = 120_000

/** Settles with the first value of `look` that is neither null, undefined nor false; throws naming `what` when none comes. */
export const until = async <T>(
  what: string,
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  patienceMs = usualPatienceMs,
): Promise<T> => {
  const begun = performance.now()
  const deadline = begun + patienceMs
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== undefined && seen !== false) {
      note(what, performance.now() - begun)
      return seen
    }
    if (performance.now() > deadline) throw new Error(`waited ${patienceMs} ms in vain for ${what}`)
    await Bun.sleep(pauseAfter(performance.now() - begun))
  }
}

/** Milliseconds to the next look: the longer it takes, the more seldom, because looks cost the others time. */
const pauseAfter = (waitedMs: number): number => Math.min(250, Math.max(10, waitedMs / 20))

/** Tells the run of the tests about a wait that it may want to know of. */
const note = (what: string, ms: number): void => {
  const file = process.env.BACKLOT_TEST_WAITS
  if (file && ms > 500) appendFileSync(file, `${JSON.stringify({ what, ms: Math.round(ms) })}\n`)
}
