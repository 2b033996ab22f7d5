/** What carries out commands at a time: a desktop that ends by itself is followed by another. */
import type { Failure } from '@backlot/contract/failure'

/** How far the computer is: its desktop starts, can be used, or is over. */
export type Phase = 'starting' | 'ready' | 'failed'

/** What there is now, as its users see it. */
export interface Replaceable<T> {
  readonly phase: Phase
  /** Why it is not ready, where that is known. */
  readonly why: string | undefined
  /** What there is, as soon as there is something; rejects where there will be nothing. */
  get(): Promise<T>
}

/** What there is now, as its owner sees it. */
export class Replacement<T> implements Replaceable<T> {
  #phase: Phase = 'starting'
  #why: string | undefined
  #next = pending<T>()

  get phase(): Phase {
    return this.#phase
  }

  get why(): string | undefined {
    return this.#why
  }

  get(): Promise<T> {
    return this.#next.promise
  }

  /** It can be used from now on. */
  begin(value: T): void {
    this.#phase = 'ready'
    this.#why = undefined
    this.#next.resolve(value)
  }

  /** It is over, and another follows: who asks waits for that. */
  end(why: string): void {
    if (this.#phase === 'ready') this.#next = pending()
    this.#phase = 'starting'
    this.#why = why
  }

  /** There will be none. */
  fail(failure: Failure): void {
    if (this.#phase === 'ready') this.#next = pending()
    this.#phase = 'failed'
    this.#why = failure.message
    this.#next.reject(failure)
  }
}

const pending = <T>() => {
  const next = Promise.withResolvers<T>()
  // Who asks is told.
  next.promise.catch(() => undefined)
  return next
}
