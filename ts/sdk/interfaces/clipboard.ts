/** The clipboard. */
import type { CallOptions } from '../basics.ts'
import type { Transport } from '../transports/transport.ts'

/** The clipboard's text. */
export interface Clipboard {
  /** What it holds, empty if no text. */
  get(options?: CallOptions): Promise<string>
  /** Replaces what it holds. */
  set(text: string, options?: CallOptions): Promise<void>
}

/** The clipboard behind a transport. */
export const clipboardOf = (transport: Transport): Clipboard => ({
  get: async (options) => (await transport.send('copy_to_clipboard', {}, options)).content,
  async set(text, options) {
    await transport.send('set_clipboard', { text }, options)
  },
})
