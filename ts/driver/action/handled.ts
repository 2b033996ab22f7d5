/** Whether an application has provably handled an action, and rests: then nothing more comes at once. */
import { evidence as limits } from '@backlot/contract/limits'
import type { Call } from '../context.ts'
import { type Eyes, isHeldDown, type Look, type Scene, type Stay } from './witnesses.ts'

/** The proof for one action, asked for when this is made: after everything was sent. */
export class Handled {
  /** When the application had handled everything, by `performance.now`. */
  #at: number | undefined
  readonly #acted = performance.now()

  constructor(
    call: Call,
    private readonly scene: Scene,
    private readonly before: Look,
    private readonly eyes: Pick<Eyes, 'heard'>,
    timeoutMs: number,
  ) {
    if (timeoutMs > 0) this.#ask(call, Math.min(timeoutMs, limits.handledMs)).catch(() => undefined)
  }

  async #ask(call: Call, timeoutMs: number): Promise<void> {
    const queues = await call.driver.queues()
    if (!(await queues.handled(this.scene.window.window_id, Math.ceil(timeoutMs)))) return
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
      ({ window_id, is_on_screen }) => window_id === this.scene.window.window_id && is_on_screen,
    )
    if (isShown && after.calmMs === undefined) return Number.POSITIVE_INFINITY
    // A control is let go before its application acts.
    const looksPressed = this.#differs(after, 'place') || isHeldDown(this.before, after)
    if (this.scene.pressed && looksPressed && now - this.#acted < limits.pressedMs) return limits.lookEveryMs
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
