/** Commands on the clipboard. */
import { Type } from '@sinclair/typebox'
import { command } from './command.ts'
import { done, none } from './fields.ts'

export const clipboardCommands = {
  copy_to_clipboard: command({
    summary: 'Read the text of the clipboard.',
    params: none,
    result: Type.Object({
      content: Type.String({ description: 'The text; empty where the clipboard holds none.' }),
      result: Type.String({ description: 'The same.' }),
    }),
    needs: 'clipboard',
    aliases: ['get_clipboard'],
    flat: 'result',
  }),
  set_clipboard: command({
    summary: 'Put a text into the clipboard.',
    params: Type.Object({ text: Type.String({ maxLength: 64 * 1024 * 1024, description: 'The text.' }) }),
    result: done,
    needs: 'clipboard',
    acts: true,
  }),
} as const
