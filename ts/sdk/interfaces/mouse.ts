/** The pointer. */
import type { CallOptions, Point } from '../basics.ts'
import type { Transport } from '../transports/transport.ts'

/** A button of the mouse. */
export type MouseButton = 'left' | 'middle' | 'right'

/** Which button. */
export interface ButtonOptions extends CallOptions {
  /** @default 'left' */
  button?: MouseButton
}

/** How a drag goes. */
export interface DragOptions extends ButtonOptions {
  /** Milliseconds from the press to the release, at most 60_000. @default 500 */
  durationMs?: number
}

/** How far the wheel is turned. */
export interface ScrollOptions extends CallOptions {
  /** Notches to the left, negative ones to the right. @default 0 */
  scrollX?: number
  /** Notches up, negative ones down. @default 3 */
  scrollY?: number
}

/** The pointer. */
export interface Mouse {
  /** Clicks a point. */
  click(x: number, y: number, button?: MouseButton | ButtonOptions): Promise<void>
  /** Clicks a point with the right button. */
  rightClick(x: number, y: number, options?: CallOptions): Promise<void>
  /** Clicks a point twice. */
  doubleClick(x: number, y: number, options?: CallOptions): Promise<void>
  /** Moves to a point. */
  move(x: number, y: number, options?: CallOptions): Promise<void>
  /** Turns the wheel at a point. */
  scroll(x: number, y: number, options?: ScrollOptions): Promise<void>
  /** Turns the wheel at a point, by position. */
  scroll(x: number, y: number, scrollX: number, scrollY?: number): Promise<void>
  /** Presses a button at a point. */
  mouseDown(x: number, y: number, button?: MouseButton | ButtonOptions): Promise<void>
  /** Releases a button at a point. */
  mouseUp(x: number, y: number, button?: MouseButton | ButtonOptions): Promise<void>
  /** Presses at the start, moves to the end and releases. */
  drag(startX: number, startY: number, endX: number, endY: number, button?: MouseButton | DragOptions): Promise<void>
  /** Where the pointer is. */
  position(options?: CallOptions): Promise<Point>
}

const buttonOf = <Options extends ButtonOptions>(given: MouseButton | Options | undefined) => {
  const options = typeof given === 'string' ? undefined : given
  return { button: typeof given === 'string' ? given : (given?.button ?? 'left'), options }
}

/** The mouse behind a transport. */
export const mouseOf = (transport: Transport): Mouse => ({
  async click(x, y, given) {
    const { button, options } = buttonOf(given)
    await transport.send('left_click', { x, y, button }, options)
  },
  async rightClick(x, y, options) {
    await transport.send('right_click', { x, y }, options)
  },
  async doubleClick(x, y, options) {
    await transport.send('double_click', { x, y }, options)
  },
  async move(x, y, options) {
    await transport.send('move_cursor', { x, y }, options)
  },
  async scroll(x: number, y: number, given?: number | ScrollOptions, byPosition?: number) {
    const options = typeof given === 'object' ? given : undefined
    const left = typeof given === 'number' ? given : (options?.scrollX ?? 0)
    const up = (typeof given === 'number' ? byPosition : options?.scrollY) ?? 3
    // On the wire notches count to the right.
    await transport.send('scroll', { x, y, scroll_x: 0 - left, scroll_y: up }, options)
  },
  async mouseDown(x, y, given) {
    const { button, options } = buttonOf(given)
    await transport.send('mouse_down', { x, y, button }, options)
  },
  async mouseUp(x, y, given) {
    const { button, options } = buttonOf(given)
    await transport.send('mouse_up', { x, y, button }, options)
  },
  async drag(startX, startY, endX, endY, given) {
    const { button, options } = buttonOf<DragOptions>(given)
    const duration = (options?.durationMs ?? 500) / 1_000
    const ends = { start_x: startX, start_y: startY, end_x: endX, end_y: endY }
    await transport.send('drag', { ...ends, button, duration }, options)
  },
  position: async (options) => (await transport.send('get_cursor_position', {}, options)).position,
})
