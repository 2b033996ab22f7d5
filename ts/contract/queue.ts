/** Work on one thing at a time, in the order in which it came. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve()

  /** Does the work after all that came before, whatever became of that, and gives what it gives. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Settles when all work that has come by now is done. */
  async idle(): Promise<void> {
    await this.#last
  }
}
