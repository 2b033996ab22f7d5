/** For how long applications had sent no events by themselves; events that an action caused do not count. */
import { late as limits } from '@backlot/contract/limits'
import type { Observation } from './evidence.ts'

interface LastSpoke {
  /** How many events had told of a change when an action was found to have caused the last of them. */
  readonly changeEvents: number
  /** When it last sent one by itself, by `performance.now`. */
  readonly at: number
}

/** The applications that were acted on last, by pid. */
export class QuietTimes {
  readonly #lastSpoke = new Map<number, LastSpoke>()

  /** Milliseconds before an observation in which the application sent no event but those that actions caused. */
  quietMs(pid: number, { changeEvents, sinceEventMs = 0, at = performance.now() }: Observation): number {
    const last = this.#lastSpoke.get(pid)
    return last !== undefined && last.changeEvents === changeEvents
      ? Math.max(sinceEventMs, at - last.at)
      : sinceEventMs
  }

  /** Says that an action caused all events between two observations. */
  attribute(pid: number, before: Observation, after: Observation): void {
    if (after.changeEvents === undefined) return
    const at = (before.at ?? performance.now()) - this.quietMs(pid, before)
    this.#lastSpoke.delete(pid)
    this.#lastSpoke.set(pid, { changeEvents: after.changeEvents, at })
    for (const [oldest] of this.#lastSpoke) {
      if (this.#lastSpoke.size <= limits.mostApplications) break
      this.#lastSpoke.delete(oldest)
    }
  }
}
