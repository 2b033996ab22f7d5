/** Runs jobs side by side. */

/** Runs `work` on every item, at most `width` at a time and in the order given; settles when all have ended. */
export async function pool<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: Math.max(1, width) }, worker))
}

/** Longest first by `seconds`, so that none is left to run by itself at the end; before all what nobody has timed. */
export const longestFirst = <T extends { readonly name: string; readonly soaks?: boolean }>(
  jobs: readonly T[],
  seconds: ReadonlyMap<string, number>,
): T[] => {
  const of = ({ name, soaks }: T): number => seconds.get(name) ?? (soaks ? 1200 : 600)
  return jobs.toSorted((a, b) => of(b) - of(a))
}
