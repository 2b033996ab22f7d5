/** The person who takes over at the live view: meanwhile no command acts. */

import { pauseFileOf } from '@backlot/contract/display'
import type { Variables } from '@backlot/contract/places'
import { PauseSwitch } from '@backlot/native/pause-switch'

/** The pause of somebody at a live view. */
export interface TakeOver {
  /** Lets commands act again, unless they were paused before. Releasing twice is fine. */
  release(): void
}

/** The pause of a display as a computer server uses it; the driver of the display obeys the same one. */
export class Person implements Disposable {
  #opened: PauseSwitch | undefined
  #holders = 0
  readonly #followers = new Set<() => void>()

  /** The environment names the display, which may become another one while nobody has taken over. */
  constructor(private readonly environment: () => Variables) {}

  get #pauseSwitch(): PauseSwitch {
    if (this.#opened !== undefined && this.#holders > 0) return this.#opened
    const file = pauseFileOf(this.environment())
    if (this.#opened?.file !== file) {
      this.#opened?.[Symbol.dispose]()
      this.#opened = new PauseSwitch(file)
    }
    return this.#opened
  }

  /** Whether somebody at a live view has taken over. */
  get hasTakenOver(): boolean {
    return this.#holders > 0
  }

  /** Calls `changed` whenever somebody takes over or lets go; gives what ends that. */
  follow(changed: () => void): () => void {
    this.#followers.add(changed)
    return () => void this.#followers.delete(changed)
  }

  /** Runs what acts; it is halted when the person takes over. Throws `paused_by_person`. */
  during<T>(signal: AbortSignal, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#pauseSwitch.during(signal, action)
  }

  /** Halts every command and tool that acts, until all who took over have let go. */
  takeOver(): TakeOver {
    const pauseSwitch = this.#pauseSwitch
    this.#holders += 1
    pauseSwitch.pause('view')
    this.#tell()
    let isHeld = true
    return {
      release: () => {
        if (!isHeld) return
        isHeld = false
        this.#holders -= 1
        // A pause by command or stop key is the person's own to end.
        if (this.#holders === 0 && pauseSwitch.state.paused_by === 'view') pauseSwitch.resume()
        this.#tell()
      },
    }
  }

  /** Tells when who took over or let go knows it too. */
  #tell(): void {
    queueMicrotask(() => {
      for (const changed of [...this.#followers]) changed()
    })
  }

  /** Ends a pause that this server began. */
  [Symbol.dispose](): void {
    if (this.#holders > 0 && this.#pauseSwitch.state.paused_by === 'view') this.#pauseSwitch.resume()
    this.#holders = 0
    this.#opened?.[Symbol.dispose]()
  }
}
