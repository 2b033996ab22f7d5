/** The pointer: where it is, its buttons, its wheel. */
import { Failure } from '@backlot/contract/failure'
import type { Point } from '@backlot/native'
import type { Call, Handlers } from '../../backend.ts'
import { dragPath } from '../drag-path.ts'
import { type MaybeAt, type Scroll, scrollHandlers } from '../scroll-commands.ts'
import type { Display } from './display.ts'

/** The place that a caller names; null is where the pointer is. One coordinate alone names no place. */
const placeOf = ({ x, y }: MaybeAt): Point | null => {
  if (x === undefined && y === undefined) return null
  if (x !== undefined && y !== undefined) return at(x, y)
  const argument = x === undefined ? 'x' : 'y'
  throw new Failure('missing_argument', `"${argument}" is missing: a place needs both "x" and "y".`, { argument })
}

const at = (x: number, y: number): Point => ({ x: Math.round(x), y: Math.round(y) })

/** Seconds of a drag where a caller names none. */
const usualDragSeconds = 0.5

type Button = 'left' | 'middle' | 'right'
type ClickParams = MaybeAt & { readonly button?: Button; readonly modifiers?: string[] }

export const pointerHandlers = (display: Display) => ({ ...buttonHandlers(display), ...motionHandlers(display) })

const buttonHandlers = ({ act }: Display) => {
  const clicking =
    (button: Button, count: number) =>
    async (params: ClickParams, { signal }: Call) => {
      const { modifiers = [] } = params
      const place = placeOf(params)
      await act(signal, (devices) => devices.click({ button: params.button ?? button, count, at: place, modifiers }))
      return {}
    }
  return {
    left_click: clicking('left', 1),
    right_click: clicking('right', 1),
    middle_click: clicking('middle', 1),
    double_click: clicking('left', 2),
    triple_click: clicking('left', 3),
    async mouse_down(params, { signal }) {
      const place = placeOf(params)
      await act(signal, (devices) => devices.press(params.button ?? 'left', place))
      return {}
    },
    async mouse_up(params, { signal }) {
      const place = placeOf(params)
      await act(signal, (devices) => devices.release(params.button ?? 'left', place))
      return {}
    },
  } satisfies Handlers
}

const motionHandlers = (display: Display) => {
  const { act } = display
  const scroll: Scroll = async (right, up, given, signal) => {
    const notches = { right: Math.round(right), down: -Math.round(up), at: placeOf(given) }
    await act(signal, (devices) => devices.wheel({ ...notches, modifiers: [] }))
    return {}
  }
  const drag = async (path: Point[], button: Button = 'left', seconds = usualDragSeconds, signal: AbortSignal) => {
    const duration_ms = Math.round(seconds * 1_000)
    await act(signal, (devices) => devices.drag({ path, button, duration_ms, modifiers: [] }))
    return {}
  }
  return {
    get_cursor_position: async () => ({ position: await (await display.desktop()).cursorPosition() }),
    async move_cursor({ x, y }, { signal }) {
      await act(signal, (devices) => devices.move(at(x, y), 0))
      return {}
    },
    drag: (params, { signal }) =>
      drag(
        dragPath(params).map(([x, y]) => at(x, y)),
        params.button,
        params.duration,
        signal,
      ),
    // With a single place a drag begins where the pointer is.
    drag_to: ({ x, y, button, duration }, { signal }) => drag([at(x, y)], button, duration, signal),
    ...scrollHandlers(scroll),
  } satisfies Handlers
}
