/** One finger on the screen of a device, by its own program `input`. */
import { Failure } from '@backlot/contract/failure'
import type { Call, Handlers } from '../../../backend.ts'
import { dragPath } from '../../drag-path.ts'
import { type MaybeAt, type Scroll, scrollHandlers } from '../../scroll-commands.ts'
import type { AndroidDevice } from '../device.ts'
import { refusal } from '../refusals.ts'
import { screenSize } from '../screen.ts'
import { type ScreenPoint, swipesOf } from './scroll.ts'
import type { TouchScreen } from './touch-screen.ts'

type Touch = MaybeAt & { readonly button?: 'left' | 'middle' | 'right'; readonly modifiers?: readonly string[] }

/** The finger that commands hold down. */
export interface Finger {
  /** Where it is; undefined where it is up. */
  at: ScreenPoint | undefined
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
  const motion = async (what: 'DOWN' | 'MOVE' | 'UP', [x, y]: ScreenPoint, signal?: AbortSignal) => {
    await device.run(['input', 'motionevent', what, x, y], { ...(signal && { signal }) })
    finger.at = what === 'UP' ? undefined : [x, y]
    return {}
  }
  const scroll: Scroll = async (right, up, given, signal) => {
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
      await dragAlong(device, touch, dragPath(params), params.duration ?? usualDragSeconds, signal)
      return {}
    },
    ...scrollHandlers(scroll),
  } satisfies Handlers
}

/** Drags the finger along places: between two by `input`, which knows no more than that. */
const dragAlong = async (
  device: AndroidDevice,
  touch: TouchScreen,
  path: readonly ScreenPoint[],
  seconds: number,
  signal: AbortSignal,
): Promise<void> => {
  const takesMs = Math.round(seconds * 1_000)
  const [from, to, ...more] = path as [ScreenPoint, ScreenPoint, ...ScreenPoint[]]
  if (more.length > 0) await touch.drag(path, takesMs, signal)
  else await device.run(['input', 'swipe', ...from, ...to, takesMs], { signal, takesMs })
}

/** Lets go of the finger that is held down. */
export const releaseFinger = async (device: AndroidDevice, finger: Finger): Promise<void> => {
  if (finger.at === undefined) return
  const place = finger.at
  finger.at = undefined
  await device.run(['input', 'motionevent', 'UP', ...place])
}

/** The place that a caller names; undefined for none. One coordinate alone names no place. */
const placeIn = (command: string, { x, y }: MaybeAt): ScreenPoint | undefined => {
  if (x === undefined && y === undefined) return undefined
  if (x !== undefined && y !== undefined) return [Math.round(x), Math.round(y)]
  const argument = x === undefined ? 'x' : 'y'
  throw new Failure('missing_argument', `"${command}" needs "${argument}": a place has both "x" and "y".`, { argument })
}

/** The place of a touch, which has no other button than the finger. */
const touched = (command: string, params: Touch): ScreenPoint => {
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
