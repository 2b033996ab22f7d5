/** One finger on the screen of a device, by its own program `input`. */
import { Failure } from '@backlot/contract/failure'
import type { Call, Handlers } from '../../../backend.ts'
import { dragPath } from '../../drag-path.ts'
import type { AndroidDevice } from '../device.ts'
import { refusal } from '../refusals.ts'
import { screenSize } from '../screen.ts'
import { type Place, swipesOf } from './scroll.ts'
import type { TouchScreen } from './touch-screen.ts'

type MaybeAt = { readonly x?: number; readonly y?: number }
type Touch = MaybeAt & { readonly button?: 'left' | 'middle' | 'right'; readonly modifiers?: readonly string[] }

/** The finger that commands hold down. */
export interface Finger {
  /** Where it is; undefined where it is up. */
  at: Place | undefined
}

/** Seconds of a drag where a caller names none. */
const usualDragSeconds = 0.5

/** Milliseconds of one swipe of a scroll: fast ones would go on by themselves. */
const swipeMs = 400

export const pointerHandlers = (device: AndroidDevice, touch: TouchScreen, finger: Finger) => {
  const tapping =
    (command: string, count: number) =>
    async (params: Touch, { signal }: Call) => {
      const [x, y] = touched(command, params)
      await device.runAll(
        Array.from({ length: count }, () => ['input', 'tap', x, y]),
        { signal },
      )
      return {}
    }
  const motion = async (what: 'DOWN' | 'MOVE' | 'UP', [x, y]: Place, signal?: AbortSignal) => {
    await device.run(['input', 'motionevent', what, x, y], { ...(signal && { signal }) })
    finger.at = what === 'UP' ? undefined : [x, y]
    return {}
  }
  const scroll = async (right: number, up: number, given: MaybeAt, signal: AbortSignal) => {
    const size = await screenSize(device, signal)
    const place = placeIn('scroll', given) ?? [Math.round(size.width / 2), Math.round(size.height / 2)]
    for (const [from, to] of swipesOf(place, { right, up }, size)) {
      await device.run(['input', 'swipe', ...from, ...to, swipeMs], { signal, takesMs: swipeMs })
    }
    return {}
  }
  return {
    left_click: tapping('left_click', 1),
    double_click: tapping('double_click', 2),
    triple_click: tapping('triple_click', 3),
    mouse_down: async (params, { signal }) => motion('DOWN', touched('mouse_down', params), signal),
    async mouse_up(params, { signal }) {
      const place = placeIn('mouse_up', params) ?? finger.at
      if (place === undefined) throw refusal('mouse_up', 'no finger is down; mouse_down puts one there')
      onlyLeft('mouse_up', params)
      return motion('UP', place, signal)
    },
    async move_cursor({ x, y }, { signal }) {
      if (finger.at === undefined) throw refusal('move_cursor', 'no finger is down, and a touch screen has no pointer')
      return motion('MOVE', [Math.round(x), Math.round(y)], signal)
    },
    async drag(params, { signal }) {
      onlyLeft('drag', params)
      const path: readonly Place[] = dragPath(params)
      const takesMs = Math.round((params.duration ?? usualDragSeconds) * 1_000)
      const [from, to, ...more] = path as [Place, Place, ...Place[]]
      if (more.length > 0) await touch.drag(path, takesMs, signal)
      else await device.run(['input', 'swipe', ...from, ...to, takesMs], { signal, takesMs })
      return {}
    },
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
  } satisfies Handlers
}

/** Lets go of the finger that is held down. */
export const releaseFinger = async (device: AndroidDevice, finger: Finger): Promise<void> => {
  if (finger.at === undefined) return
  const place = finger.at
  finger.at = undefined
  await device.run(['input', 'motionevent', 'UP', ...place])
}

/** Notches to the right and up for one notch in a direction. */
const towards = { up: [0, 1], down: [0, -1], left: [-1, 0], right: [1, 0] } as const

/** The place that a caller names; undefined for none. One coordinate alone names no place. */
const placeIn = (command: string, { x, y }: MaybeAt): Place | undefined => {
  if (x === undefined && y === undefined) return undefined
  if (x !== undefined && y !== undefined) return [Math.round(x), Math.round(y)]
  const argument = x === undefined ? 'x' : 'y'
  throw new Failure('missing_argument', `"${command}" needs "${argument}": a place has both "x" and "y".`, { argument })
}

/** The place of a touch, which has no other button than the finger. */
const touched = (command: string, params: Touch): Place => {
  onlyLeft(command, params)
  const place = placeIn(command, params)
  if (place !== undefined) return place
  const text = `"${command}" needs "x" and "y": a touch screen has no pointer that stands anywhere.`
  throw new Failure('missing_argument', text, { argument: 'x' })
}

const onlyLeft = (command: string, { button = 'left', modifiers = [] }: Touch): void => {
  if (button !== 'left') throw refusal(command, `a touch screen has no ${button} button`)
  if (modifiers.length > 0) throw refusal(command, 'a finger holds no modifiers')
}
