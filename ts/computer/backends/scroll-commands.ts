/** The commands that scroll, whatever turns the wheel. */
import type { Handlers } from '../backend.ts'

/** A place that a caller may leave out. */
export type MaybeAt = { readonly x?: number; readonly y?: number }

/** Scrolls by notches to the right and up, at the place that is named. */
export type Scroll = (right: number, up: number, at: MaybeAt, signal: AbortSignal) => Promise<Record<string, never>>

/** Notches to the right and up for one notch in a direction. */
const towards = { up: [0, 1], down: [0, -1], left: [-1, 0], right: [1, 0] } as const

/** The handlers of a backend that scrolls so. */
export const scrollHandlers = (scroll: Scroll) =>
  ({
    scroll({ x, y, scroll_x, scroll_y }, { signal }) {
      const isPlaced = scroll_x !== undefined || scroll_y !== undefined
      const at = { ...(x !== undefined && { x }), ...(y !== undefined && { y }) }
      return isPlaced ? scroll(scroll_x ?? 0, scroll_y ?? 0, at, signal) : scroll(x ?? 0, y ?? 0, {}, signal)
    },
    scroll_up: ({ clicks = 1, ...at }, { signal }) => scroll(0, clicks, at, signal),
    scroll_down: ({ clicks = 1, ...at }, { signal }) => scroll(0, -clicks, at, signal),
    scroll_direction({ direction, clicks = 1, ...at }, { signal }) {
      const [right, up] = towards[direction]
      return scroll(right * clicks, up * clicks, at, signal)
    },
  }) satisfies Handlers
