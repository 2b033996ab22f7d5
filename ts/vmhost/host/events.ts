/** What happens on the host, numbered, with the last of it kept for those who come back. */
import type { HostEvent } from '@backlot/contract/vmhost/operation'

/** An event with the id that `Last-Event-ID` takes. */
export interface NumberedEvent {
  readonly id: string
  readonly event: HostEvent
}

/** The events of this run of the service. */
export class Events {
  readonly #kept: NumberedEvent[] = []
  readonly #listeners = new Set<(event: NumberedEvent) => void>()
  #count = 0

  constructor(
    /** Tells the events of this run from those of another. */
    readonly run: string,
    readonly mostKept: number,
  ) {}

  /** How many there were. */
  get count(): number {
    return this.#count
  }

  emit(event: HostEvent): void {
    this.#count += 1
    const numbered = { id: `${this.run}-${this.#count}`, event }
    this.#kept.push(numbered)
    if (this.#kept.length > this.mostKept) this.#kept.shift()
    for (const listener of this.#listeners) listener(numbered)
  }

  /** Those after the one with the id `last`, then each as it happens, until the function given back is called. */
  follow(last: string | undefined, listener: (event: NumberedEvent) => void): () => void {
    for (const event of this.#since(last)) listener(event)
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** What was missed; a `reset` where that is not known any more. */
  #since(last: string | undefined): readonly NumberedEvent[] {
    if (last === undefined) return []
    const [, run, number] = /^(.*)-(\d{1,15})$/.exec(last) ?? []
    const oldest = this.#count - this.#kept.length
    const at = Number(number)
    if (run !== this.run || at < oldest || at > this.#count) {
      return [{ id: `${this.run}-${this.#count}`, event: { type: 'reset' } }]
    }
    return this.#kept.slice(at - oldest)
  }
}
