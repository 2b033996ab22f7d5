/** Ends sandboxes at the end of their time while this program runs; it does not keep the program running. */

const timers = new Map<string, ReturnType<typeof setTimeout>>()

/** Milliseconds of the longest timer that JavaScript has. */
const longestTimerMs = 2_147_483_647

/** Calls `end` at a time, instead of at the one that was set for the same id before; `null`: never. */
export const scheduleEnd = (id: string, expiresAt: string | null, end: () => Promise<unknown>): void => {
  clearTimeout(timers.get(id))
  timers.delete(id)
  if (expiresAt === null) return
  const leftMs = Math.max(0, Date.parse(expiresAt) - Date.now())
  const timer = setTimeout(
    () => {
      if (leftMs > longestTimerMs) return scheduleEnd(id, expiresAt, end)
      timers.delete(id)
      // Where it fails, whoever lists it next tries again and says why.
      end().catch(() => undefined)
    },
    Math.min(leftMs, longestTimerMs),
  )
  timers.set(id, timer)
  if (typeof timer === 'object') timer.unref()
}
