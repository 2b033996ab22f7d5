/** Watching for the person's stop key, which pauses all actions. */
import { Queue } from '@backlot/contract/queue'
import type { StopKey } from './index.ts'
import type { PauseSwitch } from './pause-switch.ts'

/** Milliseconds of one wait for a press; the next follows at once. */
const waitMs = 60_000

/** Follows the configured combination. */
export class StopKeyWatch {
  #combination = ''
  #watching: Promise<StopKey> | undefined
  /** One change after another, so that no watch is opened twice. */
  readonly #changes = new Queue()

  constructor(
    private readonly pauseSwitch: PauseSwitch,
    /** The combination of now; empty for none. */
    private readonly wanted: () => Promise<string>,
    private readonly open: (combination: string) => Promise<StopKey>,
  ) {}

  /**
   * Watches for the combination of now. Throws what the native core says where it cannot, so that no action goes on
   * which the person could not halt.
   */
  follow(): Promise<void> {
    return this.#changes.run(() => this.#follow())
  }

  async #follow(): Promise<void> {
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
      void this.#attend(await watching, watching, combination)
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

  async #attend(watch: StopKey, watching: Promise<StopKey>, combination: string): Promise<void> {
    try {
      while (this.#watching === watching) {
        if ((await watch.pressed(waitMs)) && (await this.#isWanted(combination))) this.pauseSwitch.pause('stop_key')
      }
    } catch {
      // Whatever ended the watch, the next action opens it again, or says why it cannot.
      this.#forget(watching)
    } finally {
      watch.close()
    }
  }

  /** Whether the person has not chosen another key since; when in doubt actions are paused. */
  async #isWanted(combination: string): Promise<boolean> {
    return (await this.wanted().catch(() => combination)) === combination
  }

  #forget(watching: Promise<StopKey>): void {
    if (this.#watching !== watching) return
    this.#combination = ''
    this.#watching = undefined
  }
}
