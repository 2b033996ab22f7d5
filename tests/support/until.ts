/** Waiting for a condition, the only waiting that tests do. */

/** Milliseconds after which a condition counts as never met; far more than any needs, because machines are busy. */
const usualPatienceMs = 30_000

/** Settles with the first value of `look` that is neither null, undefined nor false; throws naming `what` when none comes. */
export const until = async <T>(
  what: string,
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  patienceMs = usualPatienceMs,
): Promise<T> => {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== undefined && seen !== false) return seen
    if (performance.now() > deadline) throw new Error(`waited ${patienceMs} ms in vain for ${what}`)
    await Bun.sleep(10)
  }
}
