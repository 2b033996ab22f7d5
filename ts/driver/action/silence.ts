/** For how long applications had not spoken by themselves: what came of an action is no word of theirs. */
import { late as limits } from '@backlot/contract/limits'
import type { Look } from './witnesses.ts'

interface Heard {
  /** The number of its events that tell of a change, up to which all is explained. */
  readonly told: number
  /** When it spoke last by itself, by `performance.now`. */
  readonly at: number
}

/** What the latest applications were heard to say. */
export class Silence {
  readonly #heard = new Map<number, Heard>()

  /** Milliseconds before a look in which the application told of nothing that no action explains. */
  before(pid: number, { told, quietMs = 0, at = performance.now() }: Look): number {
    const heard = this.#heard.get(pid)
    return heard !== undefined && heard.told === told ? Math.max(quietMs, at - heard.at) : quietMs
  }

  /** Says that all that was told between two looks came of an action. */
  explain(pid: number, before: Look, after: Look): void {
    if (after.told === undefined) return
    const at = (before.at ?? performance.now()) - this.before(pid, before)
    this.#heard.delete(pid)
    this.#heard.set(pid, { told: after.told, at })
    for (const [oldest] of this.#heard) {
      if (this.#heard.size <= limits.mostApplications) break
      this.#heard.delete(oldest)
    }
  }
}
