/** Those who look at the live view, and who of them has taken over. */
import type { Person, TakeOver } from '../person.ts'

/** One viewer: a page with its screen. */
export class Viewer {
  #takeOver: TakeOver | undefined

  constructor(private readonly person: Person) {}

  /** Whether what the viewer does with keyboard and pointer reaches the computer. */
  get mayAct(): boolean {
    return this.#takeOver !== undefined
  }

  /** From here on the viewer acts, and no command does. */
  takeOver(): void {
    this.#takeOver ??= this.person.takeOver()
  }

  /** Lets commands act again; releasing twice is fine. */
  release(): void {
    this.#takeOver?.release()
    this.#takeOver = undefined
  }
}
