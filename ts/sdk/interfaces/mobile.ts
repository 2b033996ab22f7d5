/** An Android device's touch screen and keys. */
import type { CallOptions, Fields } from '../basics.ts'
import { usualTimeoutMs } from '../basics.ts'
import { CommandError } from '../errors.ts'
import type { Transport } from '../transports/transport.ts'
import { resultOf } from './running-command.ts'
import { fingersOf, milliseconds, pinched, pixel, stepsIn, wholeNumber } from './touch.ts'

/** A point that a finger starts from or ends at. */
export type TouchPoint = readonly [x: number, y: number]

/** How long a touch takes. */
export interface TouchOptions extends CallOptions {
  durationMs?: number
}

/** How far a finger scrolls. */
export interface SwipeOptions extends TouchOptions {
  distance?: number
}

/** How far apart two fingers are at their widest, in pixels. */
export interface PinchOptions extends TouchOptions {
  spread?: number
}

/** `steps` 0: one for each 20 ms, 5 at least. */
export interface GestureOptions extends TouchOptions {
  steps?: number
}

/** An Android device's touch screen and keys; braces hold the defaults. */
export interface Mobile {
  /** Taps a point. */
  tap(x: number, y: number, options?: CallOptions): Promise<void>
  /** Holds a point; `{ durationMs: 1000 }`. */
  longPress(x: number, y: number, options?: TouchOptions): Promise<void>
  /** Taps twice; `{ delayMs: 100 }`. */
  doubleTap(x: number, y: number, options?: CallOptions & { delayMs?: number }): Promise<void>
  /** Types a text by the server's `type_text`, which says what it cannot type. */
  typeText(text: string, options?: CallOptions): Promise<void>
  /** Swipes; `{ durationMs: 300 }`. */
  swipe(x1: number, y1: number, x2: number, y2: number, options?: TouchOptions): Promise<void>
  /** Shows what is above, by a finger that starts at the point; `{ distance: 600, durationMs: 400 }`. */
  scrollUp(x: number, y: number, options?: SwipeOptions): Promise<void>
  /** Shows what is below, by a finger that starts at the point; `{ distance: 600, durationMs: 400 }`. */
  scrollDown(x: number, y: number, options?: SwipeOptions): Promise<void>
  /** Shows what is left, by a finger that starts at the point; `{ distance: 400, durationMs: 300 }`. */
  scrollLeft(x: number, y: number, options?: SwipeOptions): Promise<void>
  /** Shows what is right, by a finger that starts at the point; `{ distance: 400, durationMs: 300 }`. */
  scrollRight(x: number, y: number, options?: SwipeOptions): Promise<void>
  /** Swipes in 100 ms, so that what is scrolled goes on by itself. */
  fling(x1: number, y1: number, x2: number, y2: number, options?: CallOptions): Promise<void>
  /** Moves fingers at once, each from one point to the next; `{ durationMs: 400, steps: 0 }`; an odd count throws `invalid_argument`, as do more than ten fingers. */
  gesture(...fingerPaths: readonly TouchPoint[] | readonly [...TouchPoint[], GestureOptions]): Promise<void>
  /** Pinches together; `{ spread: 300, durationMs: 400 }`. */
  pinchIn(cx: number, cy: number, options?: PinchOptions): Promise<void>
  /** Pinches apart; `{ spread: 300, durationMs: 400 }`. */
  pinchOut(cx: number, cy: number, options?: PinchOptions): Promise<void>
  /** Presses a key by its Android key code. */
  key(keycode: number, options?: CallOptions): Promise<void>
  /** Presses Home. */
  home(options?: CallOptions): Promise<void>
  /** Presses Back. */
  back(options?: CallOptions): Promise<void>
  /** Shows the recent apps. */
  recents(options?: CallOptions): Promise<void>
  /** Presses Power. */
  power(options?: CallOptions): Promise<void>
  /** Presses Volume up. */
  volumeUp(options?: CallOptions): Promise<void>
  /** Presses Volume down. */
  volumeDown(options?: CallOptions): Promise<void>
  /** Presses Enter. */
  enter(options?: CallOptions): Promise<void>
  /** Presses Backspace. */
  backspace(options?: CallOptions): Promise<void>
  /** Turns the screen on. */
  wake(options?: CallOptions): Promise<void>
  /** Opens the notifications. */
  notifications(options?: CallOptions): Promise<void>
  /** Closes the notifications. */
  closeNotifications(options?: CallOptions): Promise<void>
}

type Check = (options?: CallOptions) => Promise<void>

/**
 * The touch screen and keys behind a transport: one finger and keys by the device's own `input`, several fingers by the
 * command `multitouch_gesture`. `check` is asked before each act, and throws where the computer is no Android device.
 */
export const mobileOf = (transport: Transport, check: Check): Mobile => {
  const run = runner(transport, check)
  return { ...fingerOf(run), ...fingersOn(transport, check), ...keysOf(run, transport, check) }
}

type Run = (command: string, options?: CallOptions, takesMs?: number) => Promise<void>

/** Runs commands on the device; they hold numbers and our own words alone, so that nothing in them needs quoting. */
const runner =
  (transport: Transport, check: Check): Run =>
  async (command, options = {}, takesMs = 0) => {
    await check(options)
    const limits = { ...options, timeoutMs: options.timeoutMs ?? usualTimeoutMs + takesMs }
    const result = resultOf(await transport.send('run_command', { command }, limits))
    if (result.exitCode === 0) return
    throw new CommandError(`"${command}" ended with ${result.exitCode} on the device: ${result.stderr.trim()}`, result)
  }

const vertical = { distance: 600, durationMs: 400 }
const horizontal = { distance: 400, durationMs: 300 }

/** What one finger does. */
const fingerOf = (run: Run) => {
  const move = async (points: Fields, durationMs: number, options?: CallOptions): Promise<void> => {
    const [x1, y1, x2, y2] = Object.entries(points).map(([name, value]) => pixel(name, value))
    const takesMs = milliseconds('durationMs', durationMs)
    await run(`input swipe ${x1} ${y1} ${x2} ${y2} ${takesMs}`, options, takesMs)
  }
  /** A scroll of so many pixels by default: a finger that goes along `across` and `down`, each -1, 0 or 1. */
  const scroll =
    (across: number, down: number, usual: { distance: number; durationMs: number }) =>
    async (x: number, y: number, options: SwipeOptions = {}): Promise<void> => {
      const { distance = usual.distance, durationMs = usual.durationMs } = options
      const far = pixel('distance', distance)
      await move({ x, y, x2: pixel('x', x) + across * far, y2: pixel('y', y) + down * far }, durationMs, options)
    }
  return {
    tap: async (x, y, options) => run(`input tap ${pixel('x', x)} ${pixel('y', y)}`, options),
    longPress: (x, y, options = {}) => move({ x, y, x2: x, y2: y }, options.durationMs ?? 1_000, options),
    async doubleTap(x, y, options = {}) {
      const tap = `input tap ${pixel('x', x)} ${pixel('y', y)}`
      const delayMs = milliseconds('delayMs', options.delayMs ?? 100)
      // One command, so that the way to the device does not lengthen the pause.
      await run(`${tap} && sleep ${(delayMs / 1_000).toFixed(3)} && ${tap}`, options, delayMs)
    },
    swipe: (x1, y1, x2, y2, options = {}) => move({ x1, y1, x2, y2 }, options.durationMs ?? 300, options),
    scrollUp: scroll(0, 1, vertical),
    scrollDown: scroll(0, -1, vertical),
    scrollLeft: scroll(1, 0, horizontal),
    scrollRight: scroll(-1, 0, horizontal),
    fling: (x1, y1, x2, y2, options) => move({ x1, y1, x2, y2 }, 100, options),
  } satisfies Partial<Mobile>
}

/** What several fingers do. */
const fingersOn = (transport: Transport, check: Check) => {
  const gesture = async (paths: readonly TouchPoint[], options: GestureOptions): Promise<void> => {
    const { durationMs = 400, steps = 0 } = options
    const duration_ms = milliseconds('durationMs', durationMs)
    const params = {
      fingers: fingersOf(paths),
      duration_ms,
      steps: stepsIn(duration_ms, wholeNumber('steps', steps, 1_000)),
    }
    await check(options)
    const { width, height } = await transport.getScreenSize(options)
    const limits = { ...options, timeoutMs: options.timeoutMs ?? usualTimeoutMs + duration_ms }
    await transport.send('multitouch_gesture', { ...params, screen_w: width, screen_h: height }, limits)
  }
  return {
    async gesture(...given) {
      const last = given.at(-1)
      const hasOptions = last !== undefined && !Array.isArray(last)
      const paths = (hasOptions ? given.slice(0, -1) : given) as readonly TouchPoint[]
      await gesture(paths, hasOptions ? (last as GestureOptions) : {})
    },
    pinchIn: async (cx, cy, options = {}) => gesture(pinched('in', cx, cy, options.spread), options),
    pinchOut: async (cx, cy, options = {}) => gesture(pinched('out', cx, cy, options.spread), options),
  } satisfies Partial<Mobile>
}

/** Text, keys and what keys would do. */
const keysOf = (run: Run, transport: Transport, check: Check) => {
  const press = (keycode: number) => (options?: CallOptions) => run(`input keyevent ${keycode}`, options)
  return {
    async typeText(text, options) {
      await check(options)
      await transport.send('type_text', { text }, options)
    },
    key: async (keycode, options) => press(wholeNumber('keycode', keycode, 65_535))(options),
    home: press(3),
    back: press(4),
    recents: press(187),
    power: press(26),
    volumeUp: press(24),
    volumeDown: press(25),
    enter: press(66),
    backspace: press(67),
    wake: press(224),
    notifications: (options) => run('cmd statusbar expand-notifications', options),
    closeNotifications: (options) => run('cmd statusbar collapse', options),
  } satisfies Partial<Mobile>
}
