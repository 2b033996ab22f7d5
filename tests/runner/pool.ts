/** Runs jobs side by side. */

/** Runs `work` on every item, at most `width` at a time and in the order given; settles when all have ended. */
export async function pool<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: Math.max(1, width) }, worker))
}

/** Longest first by `seconds`, so that no long job is left to run by itself at the end; unknown ones before all. */
export const longestFirst = <T extends { readonly name: string }>(
  jobs: readonly T[],
  seconds: ReadonlyMap<string, number>,
): T[] => jobs.toSorted((a, b) => (seconds.get(b.name) ?? 600) - (seconds.get(a.name) ?? 600))
