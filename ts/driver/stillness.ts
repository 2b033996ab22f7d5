/** What moves by itself: an effect can only be told from it where nothing happened before. */

/** Windows whose pixels are remembered. */
const kept = 256

/** Remembers the pixels that each window was left with, to find out whether they change when nobody acts. */
export class Stillness {
  readonly #pixels = new Map<number, string>()

  /** True unless the window has other pixels than those it was left with. */
  isStill(window_id: number, digest: string | undefined): boolean {
    const left = this.#pixels.get(window_id)
    return left === undefined || left === digest
  }

  /** Notes the pixels that an action left a window with. */
  leave(window_id: number, digest: string | undefined): void {
    this.#pixels.delete(window_id)
    if (digest === undefined) return
    this.#pixels.set(window_id, digest)
    const [oldest] = this.#pixels.keys()
    if (this.#pixels.size > kept && oldest !== undefined) this.#pixels.delete(oldest)
  }
}
