/** A lock for each key: who comes later waits for those before. */

/** How a turn is waited for. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds; as long as it takes where it is absent. */
  readonly patienceMs?: number
  /** What is thrown after those. */
  tooLong?(): Error
}

/** One holder at a time of each key, in the order in which they came. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>()

  /**
   * Does `work` after everything that took a turn of `key` before. Where those take longer than the patience, or the
   * signal is aborted before, the work is not begun, and the reason is thrown.
   */
  async take<T>(key: string, work: () => Promise<T>, patience: WaitOptions = {}): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    let release = () => {}
    const mine = new Promise<void>((settle) => {
      release = settle
    })
    const last = before.then(() => mine)
    this.#last.set(key, last)
    last.then(() => this.#last.get(key) === last && this.#last.delete(key))
    try {
      await waitFor(before, key, patience)
      return await work()
    } finally {
      release()
    }
  }
}

const waitFor = async (before: Promise<unknown>, key: string, patience: WaitOptions): Promise<void> => {
  const { signal, patienceMs, tooLong } = patience
  if (signal === undefined && patienceMs === undefined) return void (await before)
  const { promise: refused, reject } = Promise.withResolvers<never>()
  const cancel = () => reject(signal?.reason)
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel)
  const late = () => reject(tooLong?.() ?? new Error(`"${key}" is busy`))
  const timer = patienceMs === undefined ? undefined : setTimeout(late, patienceMs)
  try {
    await Promise.race([before, refused])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}
