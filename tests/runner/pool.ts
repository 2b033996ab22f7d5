/** Runs jobs side by side. */

/** How much may run at once. */
export interface Room<T> {
  /** Items at a time. */
  readonly width: number
  /** Processors that the items may use together; the first of all runs, whatever it uses. */
  readonly processors?: number
  /** Processors that an item uses while it runs. */
  readonly used?: (item: T) => number
  /** True while the machine has no time for a further item; three run all the same. */
  readonly isBusy?: () => boolean
  /** Milliseconds between two questions whether it is busy. @default 100 */
  readonly recheckMs?: number
}

/** Items that run however busy the machine is. */
const leastWidth = 3

/**
 * Runs `work` on every item, in the order given but for items that use more than is free, which wait until there is room
 * for them; settles when all have ended.
 */
export async function pool<T>(items: readonly T[], room: Room<T>, work: (item: T) => Promise<void>): Promise<void> {
  const { width, processors = Number.POSITIVE_INFINITY, used = () => 0, isBusy = () => false } = room
  const waiting = [...items]
  const running = new Set<Promise<void>>()
  let busy = 0
  while (waiting.length > 0 || running.size > 0) {
    const next = waiting.findIndex((item) => running.size === 0 || busy + used(item) <= processors)
    if (next === -1 || running.size >= Math.max(1, width)) {
      await Promise.race(running)
      continue
    }
    if (running.size >= leastWidth && isBusy()) {
      await Promise.race([...running, Bun.sleep(room.recheckMs ?? 100)])
      continue
    }
    const [item] = waiting.splice(next, 1) as [T]
    busy += used(item)
    const run = work(item).finally(() => {
      busy -= used(item)
      running.delete(run)
    })
    running.add(run)
  }
}

/** Longest first by `seconds`, so that none is left to run by itself at the end; before all what nobody has timed. */
export const longestFirst = <T extends { readonly name: string; readonly soaks?: boolean }>(
  jobs: readonly T[],
  seconds: ReadonlyMap<string, number>,
): T[] => {
  const of = ({ name, soaks }: T): number => seconds.get(name) ?? (soaks ? 1200 : 600)
  return jobs.toSorted((a, b) => of(b) - of(a))
}
