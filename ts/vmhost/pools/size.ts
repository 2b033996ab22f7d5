/** How many forks a pool may have, by the memory of this machine. */

/** Part of the memory that stays free for everything else: below it pools shrink, and they grow above twice as much only. */
const reserve = 0.125

/** What decides how large a pool is now. */
export interface Circumstances {
  /** How many are wanted, and how many there are. */
  readonly wanted: number
  readonly present: number
  /** Bytes of this machine's memory, and those of it that are available. */
  readonly totalBytes: number
  readonly availableBytes: number
  /** Bytes that one more takes at most before it is handed out. */
  readonly eachBytes: number
}

/** How many there are to be: one less where memory is short, as many as there is room for otherwise. */
export const poolSize = ({ wanted, present, totalBytes, availableBytes, eachBytes }: Circumstances): number => {
  if (availableBytes < totalBytes * reserve) return Math.max(0, Math.min(wanted, present - 1))
  const room = Math.floor((availableBytes - 2 * totalBytes * reserve) / eachBytes)
  return Math.min(wanted, present + Math.max(0, room))
}
