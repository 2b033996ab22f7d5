/** What is started again where it dies. */

/** Milliseconds after which what ends has run well, so that its next pause is the shortest. */
const longEnoughMs = 60_000

/** Milliseconds to wait before something is started that has died `deaths` times in a row. */
export const pauseAfter = (deaths: number): number => Math.min(250 * 2 ** (deaths - 1), 30_000)

/**
 * Runs `life`, which settles with how it ended, again and again, after pauses that double with each death until one has
 * lasted for a minute. It is over with undefined from `life`, and when `over` settles; `died` hears of each death after
 * which there is another life.
 */
export const keepRestarting = async (
  life: () => Promise<string | undefined>,
  over: Promise<unknown>,
  died: (how: string, pauseMs: number) => void,
): Promise<void> => {
  let isOver = false
  const ending = over.then(() => {
    isOver = true
  })
  let deaths = 0
  while (!isOver) {
    const begun = performance.now()
    const how = await life()
    if (how === undefined) return
    await Promise.race([ending, settled()])
    if (isOver) return
    deaths = performance.now() - begun > longEnoughMs ? 1 : deaths + 1
    const pauseMs = pauseAfter(deaths)
    died(how, pauseMs)
    await Promise.race([ending, Bun.sleep(pauseMs)])
  }
}

/** A moment in which the end of all, which ends this life too, is heard of. */
const settled = (): Promise<void> => new Promise((settle) => setImmediate(settle))
