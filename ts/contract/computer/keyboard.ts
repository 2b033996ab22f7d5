/** Commands that press keys. */
import { Type } from '@sinclair/typebox'
import { command } from './command.ts'
import { done, key } from './fields.ts'

const acting = { result: done, needs: 'input', acts: true } as const

export const keyboardCommands = {
  type_text: command({
    summary: 'Type a text, with the keys of the keyboard and whatever characters it has; line breaks are Return.',
    params: Type.Object({
      text: Type.String({ maxLength: 100_000, description: 'The text.' }),
      delay: Type.Optional(
        Type.Number({ minimum: 0, maximum: 10, description: 'Seconds after each character; none when absent.' }),
      ),
    }),
    ...acting,
  }),
  press_key: command({
    summary: 'Press a key and let it go.',
    params: Type.Object({ key }),
    ...acting,
  }),
  key_down: command({
    summary: 'Press a key and keep it down, until `key_up` or the end of the server.',
    params: Type.Object({ key }),
    ...acting,
  }),
  key_up: command({
    summary: 'Let a key go.',
    params: Type.Object({ key }),
    ...acting,
  }),
  hotkey: command({
    summary: 'Press keys one after the other, then let them go in reverse.',
    params: Type.Object({
      keys: Type.Union([Type.Array(key, { minItems: 1, maxItems: 8 }), key], {
        description: 'Names of keys, such as `["ctrl", "c"]`.',
      }),
    }),
    ...acting,
  }),
} as const
