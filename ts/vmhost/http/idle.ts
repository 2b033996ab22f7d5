/** The end of a service that nobody needs: no VM runs, nothing is under way, and nobody has called for a while. */
import type { RequestHandler } from '@backlot/serve'

/** When a service ends by itself, and what ends it. */
export interface Idle {
  readonly afterMs: number
  end(): void
}

/** Looks after the calls of a service; disposing of it ends the look. */
export class IdleWatch implements Disposable {
  readonly #timer: ReturnType<typeof setInterval> | undefined
  #calls = 0
  #lastMs = performance.now()

  /** `isBusy` says whether a VM runs or work is under way. */
  constructor(idle: Idle | undefined, isBusy: () => boolean) {
    if (idle === undefined) return
    const look = () => {
      if (this.#calls > 0 || isBusy()) this.#lastMs = performance.now()
      else if (performance.now() - this.#lastMs >= idle.afterMs) idle.end()
    }
    this.#timer = setInterval(look, Math.min(idle.afterMs, longestPauseMs))
  }

  /** The same answers; a caller counts until it has one. */
  counting(answer: RequestHandler): RequestHandler {
    return async (request) => {
      this.#calls += 1
      this.#lastMs = performance.now()
      try {
        return await answer(request)
      } finally {
        this.#calls -= 1
        this.#lastMs = performance.now()
      }
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** Milliseconds between two looks at most. */
const longestPauseMs = 1_000
