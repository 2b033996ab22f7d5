/** A command on a terminal: what a person sees of it. */
import { backlotCommand } from './backlot.ts'

/** Runs `backlot …` on a terminal of 200 columns; gives what it wrote, without the sequences that move the cursor. */
export const onTerminal = async (
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ text: string; raw: string; status: number }> => {
  const decoder = new TextDecoder()
  let raw = ''
  const child = Bun.spawn(backlotCommand(...args), {
    env: { ...process.env, TERM: 'xterm', ...env },
    terminal: {
      cols: 200,
      rows: 50,
      data(_, part) {
        raw += decoder.decode(part, { stream: true })
      },
    },
  })
  const status = await child.exited
  child.terminal?.close()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what terminals are moved by.
  const text = raw.replaceAll('\r\n', '\n').replace(/[^\n]*\r\u001b\[K/g, '')
  return { text, raw, status }
}
