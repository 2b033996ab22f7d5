/** Whether an application has provably handled an action, and does nothing more: then no effect comes at once. */
import { evidence as limits } from '@backlot/contract/limits'
import type { Call } from '../context.ts'
import { type ActionContext, isNewlyPressed, type Observation, type Observer, type PixelStability } from './evidence.ts'

/** The proof for one action, asked for when this is made: after everything was sent. */
export class HandlingProof {
  /** When the application had handled everything, by `performance.now`. */
  #at: number | undefined
  readonly #actedAt = performance.now()

  constructor(
    call: Call,
    private readonly context: ActionContext,
    private readonly before: Observation,
    private readonly observer: Pick<Observer, 'eventsReceived'>,
    timeoutMs: number,
  ) {
    if (timeoutMs > 0) this.#ask(call, Math.min(timeoutMs, limits.handledMs)).catch(() => undefined)
  }

  async #ask(call: Call, timeoutMs: number): Promise<void> {
    const queues = await call.driver.queues()
    if (!(await queues.handled(this.context.window.window_id, Math.ceil(timeoutMs)))) return
    await this.observer.eventsReceived()
    this.#at = performance.now()
  }

  /**
   * Milliseconds after which no effect is waited for if nothing is drawn and no event comes until then: a frame after all
   * was handled. 0 when the waiting can end now; `Infinity` where nothing is proved, or nobody tells what is drawn.
   */
  msUntilSettled(after: Observation, stability: PixelStability, now: number): number {
    if (this.#at === undefined) return Number.POSITIVE_INFINITY
    const isShown = after.windows.some(
      ({ window_id, is_on_screen }) => window_id === this.context.window.window_id && is_on_screen,
    )
    if (isShown && after.sinceDrawnMs === undefined) return Number.POSITIVE_INFINITY
    // A control is let go before its application acts.
    const looksPressed = this.#differs(after, 'place') || isNewlyPressed(this.before, after)
    if (this.context.pressed && looksPressed && now - this.#actedAt < limits.pressedMs) return limits.pollIntervalMs
    // What was drawn and stays for long enough confirms the action.
    if (
      this.before.isStatic &&
      (['place', 'whole'] as const).some((part) => this.#differs(after, part) && !stability.isStable(part))
    )
      return limits.pollIntervalMs
    // An observation may take long, and events that came meanwhile are not in it.
    const seen = after.at ?? now
    const drawn = isShown ? now - (after.sinceDrawnMs ?? 0) : 0
    const spoke = after.sinceEventMs === undefined ? 0 : seen - after.sinceEventMs
    return Math.max(0, limits.frameMs - (seen - Math.max(this.#at, drawn, spoke)))
  }

  #differs(after: Observation, part: 'place' | 'whole'): boolean {
    const [was, is] = [this.before[part], after[part]]
    return was !== undefined && is !== undefined && was !== is
  }
}
