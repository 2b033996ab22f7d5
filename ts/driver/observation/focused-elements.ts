/** What is known of the focus within windows that are not active. */
import type { Window } from '@backlot/native'

interface Noted {
  /** The element's token; absent where an action may have moved the focus to an element that nobody knows. */
  readonly token: string | undefined
  /** How often the application had told by then that something got the focus. */
  readonly changes: number
}

/** Windows of which something is remembered. */
const windowsKept = 64

/** What actions did to the focus within windows, the window acted on last being the last. */
export class FocusedElements {
  readonly #windows = new Map<string, Noted>()

  note(window: Pair, noted: Noted): void {
    this.#windows.delete(key(window))
    this.#windows.set(key(window), noted)
    for (const oldest of [...this.#windows.keys()].slice(0, -windowsKept)) this.#windows.delete(oldest)
  }

  of(window: Pair): Noted | undefined {
    return this.#windows.get(key(window))
  }
}

/** What names a window of a process. */
type Pair = Pick<Window, 'pid' | 'window_id'>

/** With the process: the next program may get the window's id. */
const key = ({ pid, window_id }: Pair): string => `${pid} ${window_id}`
