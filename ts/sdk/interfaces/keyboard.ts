/** Text and keys. */
import type { CallOptions } from '../basics.ts'
import type { Transport } from '../transports/transport.ts'

/** A key by its X, web or common name in any case, or a character. */
export type Key =
  | 'enter'
  | 'tab'
  | 'escape'
  | 'backspace'
  | 'delete'
  | 'space'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page_up'
  | 'page_down'
  | 'ctrl'
  | 'alt'
  | 'shift'
  | 'cmd'
  | (string & {})

/** Text and keys for what has the focus. */
export interface Keyboard {
  /** Types any text on any layout; throws `text_not_typable`. */
  type(text: string, options?: CallOptions): Promise<void>
  /** Presses one key, or several together such as `['ctrl', 'l']`; throws `unknown_key`. */
  keypress(keys: Key | readonly Key[], options?: CallOptions): Promise<void>
  /** Presses a key and holds it. */
  keyDown(key: Key, options?: CallOptions): Promise<void>
  /** Releases a key. */
  keyUp(key: Key, options?: CallOptions): Promise<void>
}

/** The keyboard behind a transport. */
export const keyboardOf = (transport: Transport): Keyboard => ({
  async type(text, options) {
    await transport.send('type_text', { text }, options)
  },
  async keypress(keys, options) {
    await transport.send('hotkey', { keys: typeof keys === 'string' ? [keys] : [...keys] }, options)
  },
  async keyDown(key, options) {
    await transport.send('key_down', { key }, options)
  },
  async keyUp(key, options) {
    await transport.send('key_up', { key }, options)
  },
})
