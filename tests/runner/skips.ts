/** The skips that are expected where all tests run (`CI` is set); any other fails the run. */

/** Parts of the names of tests, each with the reason why it cannot run there. */
const expected: readonly (readonly [part: string, reason: string])[] = []

/** The names among `skipped` that nobody expects. */
export const unexpected = (skipped: readonly string[]): string[] =>
  skipped.filter((name) => !expected.some(([part]) => name.includes(part)))
