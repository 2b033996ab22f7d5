/** Whether an application has provably handled an action, and rests: then nothing more comes at once. */
import { evidence as limits } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import type { Call } from '../context.ts'
import type { Eyes, Look, Stay } from './witnesses.ts'

/** The proof for one action, asked for when this is made: after everything was sent. */
export class Handled {
  /** When the application had handled everything, by `performance.now`. */
  #at: number | undefined

  constructor(
    call: Call,
    private readonly window: Window,
    private readonly before: Look,
    private readonly eyes: Pick<Eyes, 'heard'>,
    timeoutMs: number,
  ) {
    if (timeoutMs > 0) this.#ask(call, Math.min(timeoutMs, limits.handledMs)).catch(() => undefined)
  }

  async #ask(call: Call, timeoutMs: number): Promise<void> {
    const queues = await call.driver.queues()
    if (!(await queues.handled(this.window.window_id, Math.ceil(timeoutMs)))) return
    await this.eyes.heard()
    this.#at = performance.now()
  }

  /**
   * Milliseconds in which looking can end if nothing is drawn and no event comes until then: a frame after all was
   * handled. 0 when it can end now; `Infinity` where nothing is proved, or nobody tells what is drawn.
   */
  restsIn(after: Look, stay: Stay, now: number): number {
    if (this.#at === undefined) return Number.POSITIVE_INFINITY
    const isShown = after.windows.some(
      ({ window_id, is_on_screen }) => window_id === this.window.window_id && is_on_screen,
    )
    if (isShown && after.calmMs === undefined) return Number.POSITIVE_INFINITY
    // What was drawn and stays for long enough confirms the action.
    if (
      this.before.isStill &&
      (['place', 'whole'] as const).some((part) => this.#differs(after, part) && !stay.has(part))
    )
      return limits.lookEveryMs
    // A look may take long, and what was told meanwhile is not in it.
    const seen = after.at ?? now
    const drawn = isShown ? now - (after.calmMs ?? 0) : 0
    const spoke = after.quietMs === undefined ? 0 : seen - after.quietMs
    return Math.max(0, limits.frameMs - (seen - Math.max(this.#at, drawn, spoke)))
  }

  #differs(after: Look, part: 'place' | 'whole'): boolean {
    const [was, is] = [this.before[part], after[part]]
    return was !== undefined && is !== undefined && was !== is
  }
}
