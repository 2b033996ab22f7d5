/** What goes from this terminal to one in a sandbox. */

import { Queue } from '@backlot/contract/queue'
import type { Terminal } from '@backlot/sdk'

/**
 * Sends keys and sizes one after the other, in the order in which they came. What does not arrive is told, because the
 * shell goes on without it; after `end` nothing is told any more.
 */
export const terminalInput = (terminal: Pick<Terminal, 'sendInput' | 'resize'>, tell: (line: string) => void) => {
  const queue = new Queue()
  let hasEnded = false
  const send = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await queue.run(work)
    } catch (error) {
      if (!hasEnded) tell(`${what} did not reach the shell: ${error instanceof Error ? error.message : error}`)
    }
  }
  return {
    type: (text: string): Promise<void> => send('What was typed', () => terminal.sendInput(text)),
    resize: (cols: number, rows: number): Promise<void> => send('The new size', () => terminal.resize(cols, rows)),
    end(): void {
      hasEnded = true
    },
  }
}
