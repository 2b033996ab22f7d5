/** What cannot be done, and why: a cell that is refused must stand here, and one that stands here must be refused. */
import type { Placing } from './matrix.ts'

/** Cells that are refused, with the code of the refusal. */
export interface Exception {
  readonly toolkits: readonly string[]
  readonly placings: readonly Placing[]
  readonly actions: readonly string[]
  readonly code: string
  /** The same may be done at another time. */
  readonly varies?: true
  /** As the published page says it. */
  readonly reason: string
}

const everything = ['GTK 3', 'GTK 4', 'Qt 5', 'Qt 6', 'Chromium', 'Firefox', 'xterm', 'LibreOffice Calc']
const hidden: readonly Placing[] = ['other workspace', 'minimised']

/** None of these depends on the window manager. */
export const exceptions: readonly Exception[] = [
  {
    toolkits: everything,
    placings: hidden,
    actions: ['click', 'double click', 'right click', 'middle click', 'drag', 'wheel'],
    code: 'window_not_visible',
    reason: 'A window that is not shown has no place on the display, so no pointer can be in it. Operate its elements.',
  },
  {
    toolkits: everything.filter((toolkit) => !toolkit.startsWith('Qt') && toolkit !== 'xterm'),
    placings: hidden,
    actions: ['scroll by element'],
    code: 'window_not_visible',
    reason: 'It is scrolled by keys or by the wheel, and neither reaches a window that is not shown.',
  },
  {
    toolkits: ['GTK 3'],
    placings: hidden,
    actions: ['text without element'],
    code: 'window_not_visible',
    reason:
      'After an action on an element nobody knows what has the focus in a window that is not active, so the text would be typed. Name the element.',
  },
  {
    toolkits: everything.filter((toolkit) => !toolkit.startsWith('Qt')),
    placings: hidden,
    actions: ['key', 'hotkey'],
    code: 'window_not_visible',
    reason: "Keys go to the window that the agent's pointer is in. Qt alone takes them as messages, shown or not.",
  },
  {
    toolkits: ['Firefox'],
    placings: ['minimised'],
    actions: ['scroll by element', 'key', 'text', 'text without element', 'element'],
    code: 'no_elements',
    varies: true,
    reason: 'A minimised Firefox may tell of no elements in its pages.',
  },
  {
    toolkits: ['Firefox'],
    placings: ['minimised'],
    actions: ['key'],
    code: 'element_not_focusable',
    varies: true,
    reason: 'A minimised Firefox may leave the focus where it is when another element is to have it.',
  },
  {
    toolkits: ['Chromium', 'Firefox', 'xterm', 'LibreOffice Calc'],
    placings: hidden,
    actions: ['text', 'text without element'],
    code: 'window_not_visible',
    reason:
      'They let no text be inserted from outside, so it is typed, and keys do not reach a window that is not shown.',
  },
]

/** What an action cannot help but let the person notice, by the types of the events that reach the person's window. */
export const noticed: readonly {
  readonly toolkits: readonly string[]
  readonly actions: readonly string[]
  readonly events: readonly string[]
  readonly reason: string
}[] = [
  {
    toolkits: ['Firefox'],
    actions: ['right click'],
    events: ['enter-notify', 'leave-notify'],
    reason:
      "Firefox grabs the person's pointer for a context menu. That is refused while the person's devices are held, at most a quarter of a second; on a busy machine the menu may open later, and has the pointer until it closes.",
  },
]
