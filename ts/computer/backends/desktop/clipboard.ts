/** The clipboard. */
import type { Handlers } from '../../backend.ts'
import type { Display } from './display.ts'

export const clipboardHandlers = ({ desktop }: Display) =>
  ({
    async copy_to_clipboard() {
      const content = (await (await desktop()).clipboardRead()).text ?? ''
      return { content, result: content }
    },
    async set_clipboard({ text }) {
      await (await desktop()).clipboardWrite({ text })
      return {}
    },
  }) satisfies Handlers
