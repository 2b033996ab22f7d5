/** Work on one thing at a time: who comes later waits for those before. */

/** A queue for each key. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  /**
   * Does `work` after everything that took a turn of `key` before. Where those take longer than `patienceMs`, the work
   * is not begun, and what `tooLong` gives is thrown.
   */
  async take<T>(key: string, work: () => Promise<T>, patienceMs?: number, tooLong?: () => Error): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    let release = () => {}
    const mine = new Promise<void>((settle) => {
      release = settle
    })
    const last = before.then(() => mine)
    this.#last.set(key, last)
    last.then(() => this.#last.get(key) === last && this.#last.delete(key))
    try {
      if (patienceMs !== undefined && !(await settlesWithin(before, patienceMs))) {
        throw tooLong?.() ?? new Error(`"${key}" is busy`)
      }
      await before
      return await work()
    } finally {
      release()
    }
  }
}

const settlesWithin = async (work: Promise<unknown>, ms: number): Promise<boolean> => {
  let timer: Timer | undefined
  const late = new Promise<false>((settle) => {
    timer = setTimeout(() => settle(false), ms)
  })
  const inTime = await Promise.race([work.then(() => true), late])
  clearTimeout(timer)
  return inTime
}
