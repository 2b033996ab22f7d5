/** The keys of a device, by its own program `input`. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../../backend.ts'
import type { DeviceAgent } from './agent/agent.ts'
import type { AndroidDevice } from './device.ts'
import { keyCodeOf } from './key-codes.ts'
import { refusal } from './refusals.ts'
import { typeText } from './typing.ts'

/** The version of Android's interface from which `input` presses several keys at once. */
const combinationsSince = 31

export const keyboardHandlers = (device: AndroidDevice, agent: DeviceAgent) => {
  const press = (key: string, signal: AbortSignal) => device.run(['input', 'keyevent', codeOf(key)], { signal })
  return {
    async type_text({ text, delay = 0 }, { signal }) {
      await typeText(device, agent, text, { delayMs: delay * 1_000, signal })
      return {}
    },
    async press_key({ key }, { signal }) {
      await press(key, signal)
      return {}
    },
    async hotkey({ keys }, { signal }) {
      const names = typeof keys === 'string' ? [keys] : keys
      const codes = names.map(codeOf)
      if (codes.length === 1) {
        await press(names[0] ?? '', signal)
        return {}
      }
      const version = Number(await device.run(['getprop', 'ro.build.version.sdk'], { signal }))
      if (!(version >= combinationsSince)) {
        const why = `the \`input\` of its Android (API ${version}) presses one key at a time; API ${combinationsSince} presses several`
        throw refusal('hotkey', why)
      }
      await device.run(['input', 'keycombination', ...codes], { signal })
      return {}
    },
  } satisfies Handlers
}

/** What `input` takes for a key. Throws `invalid_argument` for a name that no key has. */
export const codeOf = (key: string): number | string => {
  const code = keyCodeOf(key)
  if (code !== undefined) return code
  const text = `"${key.slice(0, 40)}" is no key of Android; give one such as Return, back, volume_up or KEYCODE_CAMERA.`
  throw new Failure('invalid_argument', text, { argument: 'key' })
}
