/** Watching for the person's stop key, which puts the brake on. */
import { Failure } from '@backlot/contract/failure'
import type { StopKey } from '@backlot/native'
import type { Brake } from './brake.ts'

/** Milliseconds of one wait for a press; the next follows at once. */
const waitMs = 60_000

/** Follows the configured combination. */
export class StopKeyWatch {
  #combination = ''
  #watching: Promise<StopKey> | undefined

  constructor(
    private readonly brake: Brake,
    /** The combination of now; empty for none. */
    private readonly wanted: () => Promise<string>,
    private readonly open: (combination: string) => Promise<StopKey>,
  ) {}

  /**
   * Watches for the combination of now. Throws what the native core says where it cannot, so that no action goes on
   * which the person could not halt.
   */
  async follow(): Promise<void> {
    const combination = await this.wanted()
    if (combination === this.#combination) {
      await this.#watching
      return
    }
    await this.close()
    if (combination === '') return
    this.#combination = combination
    const watching = this.open(combination)
    this.#watching = watching
    try {
      this.#attend(await watching, watching)
    } catch (error) {
      this.#forget(watching)
      throw error
    }
  }

  /** Ends the watch; closing twice is fine. */
  async close(): Promise<void> {
    const watching = this.#watching
    this.#combination = ''
    this.#watching = undefined
    const watch = await watching?.catch(() => undefined)
    watch?.close()
  }

  async #attend(watch: StopKey, watching: Promise<StopKey>): Promise<void> {
    try {
      while (this.#watching === watching) {
        if ((await watch.pressed(waitMs)) && (await this.#isWanted())) this.brake.pause('stop_key')
      }
    } catch (error) {
      // The display went; with it the keyboard. The next action opens both again.
      if (Failure.from(error).code !== 'display_lost') throw error
      this.#forget(watching)
    }
  }

  /** Whether the person has not chosen another key since; when in doubt the brake goes on. */
  async #isWanted(): Promise<boolean> {
    const combination = this.#combination
    return (await this.wanted().catch(() => combination)) === combination
  }

  #forget(watching: Promise<StopKey>): void {
    if (this.#watching !== watching) return
    this.#combination = ''
    this.#watching = undefined
  }
}
