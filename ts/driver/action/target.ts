/** Which window, element or point an action means; whatever cannot be meant is refused before anything is sent. */
import { Failure } from '@backlot/contract/failure'
import type { AxFrame, Point, Rect, Window } from '@backlot/native'
import { type Call, viewersOf } from '../context.ts'
import type { ActedOn } from '../notes.ts'
import { type IndexedElement, staleElement } from '../observation/elements.ts'
import { elementNow } from '../observation/lookalike.ts'
import { isPassword, keepSecret } from './typing.ts'

/** An element with its window. */
export interface ElementTarget {
  readonly window: Window
  readonly target: IndexedElement
}

/** The window, whoever it belongs to, or throws `window_not_found`. */
export const windowById = async (call: Call, window_id: number): Promise<Window> => {
  const windows = await (await call.driver.desktop()).windows()
  call.driver.windowCache.keepOnly(new Set(windows.map((each) => each.window_id)))
  const window = windows.find((each) => each.window_id === window_id)
  if (window === undefined) {
    throw new Failure(
      'window_not_found',
      `Window ${window_id} does not exist or is closed. Call list_windows for the windows that are there.`,
      { window_id },
    )
  }
  return window
}

/** The window, or throws `window_not_found` or `window_not_of_process`. */
export const windowOf = async (call: Call, pid: number, window_id: number): Promise<Window> => {
  const window = await windowById(call, window_id)
  if (window.pid !== pid) {
    throw new Failure(
      'window_not_of_process',
      `Window ${window_id} "${window.title}" belongs to pid ${window.pid} ("${window.app_name}"), not to pid ${pid}. Use pid ${window.pid}, or call list_windows.`,
      { window_id, pid, owner_pid: window.pid, owner_name: window.app_name },
    )
  }
  return window
}

/** The window named, else the frontmost of the process, else `process_has_no_window`. */
export const windowOrFrontmost = async (call: Call, pid: number, window_id: number | undefined): Promise<Window> => {
  if (window_id !== undefined) return windowOf(call, pid, window_id)
  const windows = (await (await call.driver.desktop()).windows()).filter((window) => window.pid === pid)
  const [frontmost] = frontmostFirst(windows)
  if (frontmost === undefined) {
    throw new Failure(
      'process_has_no_window',
      `Process ${pid} has no window. Call list_windows for the windows that are there, or launch_app.`,
      { pid },
    )
  }
  return frontmost
}

/** Windows with the frontmost first: what is on the screen before what is not, popups last among them. */
export const frontmostFirst = (windows: readonly Window[]): readonly Window[] => {
  const rank = (window: Window) => [window.is_on_screen ? 1 : 0, window.kind === 'popup' ? 0 : 1, window.z_index]
  return windows.toSorted((a, b) => compare(rank(b), rank(a)))
}

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((value, at) => value - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0

/** The element of an action's arguments with its window, read again; `undefined` when no index was given. */
export const elementOf = async (
  call: Call,
  args: { readonly pid: number; readonly window_id?: number; readonly element_index?: number },
): Promise<ElementTarget | undefined> => {
  const { element_index } = args
  return element_index === undefined ? undefined : namedElement(call, { ...args, element_index })
}

/** The element of an index with its window, read again. */
export const namedElement = async (
  call: Call,
  {
    pid,
    window_id,
    element_index,
  }: { readonly pid: number; readonly window_id?: number; readonly element_index: number },
): Promise<ElementTarget> => {
  const window = await windowOf(call, pid, requireWindowId(window_id, 'element_index'))
  noteActedOn(call, { window })
  const target = await elementNow(call, window, element_index)
  noteActedOn(call, { target })
  return { window, target }
}

/** Notes what is known now; what is not given stays as it was. What goes into a password field is a secret at once. */
export const noteActedOn = (
  call: Call,
  { window, target, point }: { readonly [Key in keyof ActedOn]?: ActedOn[Key] | undefined },
): void => {
  if (target && isPassword(target.element)) keepSecret(call, call.types ?? [])
  const { notes } = call
  notes.actedOn = { ...notes.actedOn, ...(window && { window }), ...(target && { target }), ...(point && { point }) }
}

/** The answer of an element that was asked for something; that it is gone becomes the failure that names its index. */
export const orStaleElement = async <T>(window: Window, element_index: number, asked: Promise<T>): Promise<T> => {
  try {
    return await asked
  } catch (error) {
    throw Failure.from(error).code === 'stale_element'
      ? staleElement(window.pid, window.window_id, element_index)
      : error
  }
}

/**
 * The same for an element that was asked to do something: where no answer came, the failure says that it may be done all
 * the same.
 */
export const orUnknownOutcome = async <T>(window: Window, element_index: number, asked: Promise<T>): Promise<T> => {
  try {
    return await orStaleElement(window, element_index, asked)
  } catch (error) {
    const { code, message, data } = Failure.from(error)
    if (code !== 'accessibility_timeout') throw error
    const [happened] = message.split('. ', 1)
    throw new Failure(
      code,
      `${happened}. It was asked, and may have done it or do it yet: look at the window before you call again.`,
      data,
    )
  }
}

/** The window of an argument that needs one, or throws `missing_argument`. */
export const requireWindowId = (window_id: number | undefined, argument: string): number => {
  if (window_id !== undefined) return window_id
  throw new Failure('missing_argument', `window_id is required when ${argument} is used.`, { argument: 'window_id' })
}

/** Refuses arguments that name anything but one element or one whole point; `tool` is how the failure names it. */
export const requireOneTarget = (
  tool: string,
  { element_index, x, y }: { readonly element_index?: number; readonly x?: number; readonly y?: number },
): void => {
  if ((x === undefined) !== (y === undefined)) {
    const argument = x === undefined ? 'x' : 'y'
    throw new Failure('invalid_argument', 'Provide both x and y together, not just one.', { argument })
  }
  if (element_index !== undefined && x !== undefined) {
    throw new Failure('target_ambiguous', 'Provide element_index or x and y, not both: they may mean different places.')
  }
  if (element_index === undefined && x === undefined) {
    throw new Failure(
      'target_required',
      `${tool} needs a target: element_index with window_id, or x and y. Call get_window_state to find one.`,
    )
  }
}

/** How messages name an element. */
export const nameOf = ({ index, element }: IndexedElement): string =>
  `Element ${index} (${element.role}${element.label === '' ? '' : ` "${element.label}"`})`

/** Refuses an element that takes no input with `element_disabled`. */
export const refuseDisabled = (target: IndexedElement): void => {
  if (target.element.enabled) return
  throw new Failure(
    'element_disabled',
    `${nameOf(target)} is disabled. Make the application enable it first, then call get_window_state again.`,
    { element_index: target.index },
  )
}

/** Picture pixels to window pixels; throws `point_outside_window` for what no pixel of the window shows. */
export const pointIn = (call: Call, window: Window, x: number, y: number): Point => {
  const scale = call.driver.windowCache.scale(window.pid, window.window_id, viewersOf(call))
  const point = { x: Math.floor(x / scale), y: Math.floor(y / scale) }
  if (contains(window, point)) return point
  const width = Math.round(window.width * scale)
  const height = Math.round(window.height * scale)
  throw new Failure(
    'point_outside_window',
    `(${x}, ${y}) lies outside window ${window.window_id}, whose picture is ${width}x${height}. Pass x from 0 to ${width - 1} and y from 0 to ${height - 1}.`,
    { window_id: window.window_id, x, y, width, height, scale },
  )
}

export const contains = (window: Pick<Window, 'width' | 'height'>, { x, y }: Point): boolean =>
  x >= 0 && y >= 0 && x < window.width && y < window.height

/** The middle of an element, in window pixels. */
export const centreOf = ({ element }: IndexedElement): Point => middleOf(element.frame)

/** The middle of a place. */
export const middleOf = ({ x, y, w, h }: AxFrame): Point => ({ x: Math.floor(x + w / 2), y: Math.floor(y + h / 2) })

/** Refuses a window that shows no pixel with `window_not_visible`. */
export const refuseInvisible = (window: Window): void => {
  if (window.is_on_screen && !window.is_minimized) return
  const why = window.is_minimized ? 'is minimised' : 'shows no part on the screen'
  throw new Failure(
    'window_not_visible',
    `Window ${window.window_id} "${window.title}" ${why}, and a pixel action needs it there. Use an element_index of get_window_state, or make the window visible.`,
    { window_id: window.window_id, is_minimized: window.is_minimized },
  )
}

/** The square around a point in which a click's effect shows, in window pixels. */
export const clickArea = ({ x, y }: Point): Rect => ({ x: x - 24, y: y - 24, width: 48, height: 48 })
