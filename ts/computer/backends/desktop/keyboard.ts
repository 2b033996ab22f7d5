/** The keyboard. */
import { checkKey } from '@backlot/native'
import type { Handlers } from '../../backend.ts'
import type { Display } from './display.ts'

export const keyboardHandlers = ({ act }: Display) =>
  ({
    async type_text({ text, delay = 0 }, { signal }) {
      await act(signal, (devices) => devices.typeText(text, Math.round(delay * 1_000)))
      return {}
    },
    async press_key({ key }, { signal }) {
      checkKey(key)
      await act(signal, (devices) => devices.pressKeys([key]))
      return {}
    },
    async key_down({ key }, { signal }) {
      checkKey(key)
      await act(signal, (devices) => devices.keyDown(key))
      return {}
    },
    async key_up({ key }, { signal }) {
      checkKey(key)
      await act(signal, (devices) => devices.keyUp(key))
      return {}
    },
    async hotkey({ keys }, { signal }) {
      const given = typeof keys === 'string' ? [keys] : keys
      const meant = given.length > 1 ? given.map(hereFor) : given
      for (const key of meant) checkKey(key)
      await act(signal, (devices) => devices.pressKeys(meant))
      return {}
    },
  }) satisfies Handlers

/** Clients that know a Mac's keyboard copy and paste with `command`, whatever computer they talk to. */
const hereFor = (key: string): string => (/^(?:cmd|command)$/i.test(key) ? 'ctrl' : key)
