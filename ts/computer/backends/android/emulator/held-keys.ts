/** Keys that are held down, by the emulator; a device without one is told of whole presses alone. */
import type { Handlers } from '../../../backend.ts'
import { codeOf } from '../keyboard.ts'
import { refusal } from '../refusals.ts'
import type { Emulator } from './emulator.ts'
import { evdevCodeOf } from './evdev-codes.ts'
import { keyboardEvent } from './messages.ts'

export class HeldKeys {
  readonly #held = new Set<number>()

  constructor(private readonly emulator: Emulator) {}

  readonly handlers = {
    key_down: async ({ key }) => {
      const code = await this.#codeOf('key_down', key)
      this.#held.add(code)
      await this.emulator.call('sendKey', keyboardEvent('keydown', code))
      return {}
    },
    key_up: async ({ key }) => {
      await this.#release(await this.#codeOf('key_up', key))
      return {}
    },
  } satisfies Handlers

  /** Lets go of all of them. */
  async release(): Promise<void> {
    for (const code of [...this.#held]) await this.#release(code)
  }

  async #release(code: number): Promise<void> {
    this.#held.delete(code)
    await this.emulator.call('sendKey', keyboardEvent('keyup', code))
  }

  async #codeOf(command: string, key: string): Promise<number> {
    const android = codeOf(key)
    if (!(await this.emulator.runs())) {
      throw refusal(command, 'adb presses a key and lets it go; use press_key or hotkey')
    }
    const code = evdevCodeOf(android)
    if (code !== undefined) return code
    throw refusal(command, `"${key.slice(0, 40)}" is no key of the emulator's keyboard; use press_key`)
  }
}
