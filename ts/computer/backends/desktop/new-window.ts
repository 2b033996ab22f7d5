/** Waiting for the window of a program that was just started. */
import type { Desktop } from '@backlot/native'
import { hasEnded } from '@backlot/native/proc-stat'

/** The windows there are, to be told from those that come. */
export const windowsNow = async (desktop: Desktop): Promise<ReadonlySet<number>> =>
  new Set((await desktop.windows()).map(({ window_id }) => window_id))

/** Milliseconds between two looks at whether the program still runs. */
const pollIntervalMs = 250

interface Awaited {
  /** The process that was started. */
  readonly pid: number
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** The first window that was not there before; null where none came in time, or the process ended and shows none. */
export const newWindow = async (
  desktop: Desktop,
  before: ReadonlySet<number>,
  { pid, waitMs, signal }: Awaited,
): Promise<number | null> => {
  const deadline = performance.now() + waitMs
  for (let changes = desktop.changes(); ; ) {
    signal.throwIfAborted()
    const ran = !hasEnded(pid)
    const found = (await desktop.windows()).find(
      ({ window_id, is_on_screen }) => is_on_screen && !before.has(window_id),
    )
    if (found !== undefined) return found.window_id
    const leftMs = deadline - performance.now()
    if (leftMs <= 0 || !ran) return null
    changes = await desktop.waitForChange(changes, Math.min(leftMs, pollIntervalMs))
  }
}
