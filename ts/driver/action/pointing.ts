/** Pressing on elements and at points: how every tool that clicks does it. */
import { Failure } from '@backlot/contract/failure'
import { accessibleActionTimeoutMs, evidence as limits } from '@backlot/contract/limits'
import type { AxElement, AxSnapshot, Point, Rect, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import type { IndexedElement } from '../observation/elements.ts'
import type { Outcome } from '../tool/tool.ts'
import { act, answer, deliver } from './act.ts'
import { isControl } from './evidence.ts'
import { noteFocusAfterClick } from './focused-element.ts'
import { bringIntoView } from './into-view.ts'
import { elementAt } from './observer.ts'
import {
  centreOf,
  clickArea,
  contains,
  type ElementTarget,
  nameOf,
  orUnknownOutcome,
  pointIn,
  refuseInvisible,
  windowOrFrontmost,
} from './target.ts'

/** The buttons of a pointer. */
export const buttons = ['left', 'middle', 'right'] as const

/** Which button is pressed how often, and what is held meanwhile. */
export interface Clicks {
  readonly button: (typeof buttons)[number]
  readonly count: number
  readonly held: readonly string[]
}

/** What the toolkit can do to an element. */
export type ElementAction = Parameters<AxSnapshot['perform']>[1]

/** The window of an action, and what turns a point of its latest picture into window pixels. */
export const screenshotPoints = async (
  call: Call,
  { pid, window_id }: { readonly pid: number; readonly window_id?: number },
): Promise<{ readonly window: Window; readonly pointAt: (x: number, y: number) => Point }> => {
  const window = await windowOrFrontmost(call, pid, window_id)
  return { window, pointAt: (x, y) => pointIn(call, window, x, y) }
}

/** Does an element's action through the toolkit; clicks its middle `instead` where it lacks the action. */
export const performAction = async (
  call: Call,
  found: ElementTarget,
  action: ElementAction,
  instead: Clicks | undefined,
): Promise<Outcome> => {
  const { window, target } = found
  let done = ''
  try {
    const performed = await act(call, { ...found, place: frameOf(target.element), ...pressedOf(target) }, async () => {
      done = await guardFocus(call, window, () => {
        const asked = target.snapshot.perform(target.index, action, accessibleActionTimeoutMs)
        return orUnknownOutcome(window, target.index, asked)
      })
      return [{ kind: 'ax_action', detail: `the toolkit accepted "${done}"` }]
    })
    return answer(`✅ ${nameOf(target)}: did "${done}".`, performed, { action: done, route: 'accessibility' })
  } catch (error) {
    const failure = Failure.from(error)
    if (failure.code !== 'action_not_supported' || instead === undefined) throw failure
    return clickMiddle(call, found, instead, [`accessibility action "${action}"`])
  }
}

/** Has an element's own action done, and what it opens kept from the person's focus; without a pointer of its own the action is done all the same. */
export const guardFocus = async <T>(call: Call, { window_id }: Window, action: () => Promise<T>): Promise<T> => {
  await call
    .gesture((agent) => agent.beginAction(window_id))
    .catch((error: unknown) => {
      if (!pointerless.has(Failure.from(error).code)) throw error
    })
  try {
    return await action()
  } finally {
    // Of a call that is aborted meanwhile it ends by itself.
    await call.gesture((agent) => agent.endAction()).catch(() => undefined)
  }
}

/** Why there is no pointer for an agent. */
const pointerless: ReadonlySet<string> = new Set(['input_unavailable', 'foreground_only', 'too_many_agents'])

/** Clicks the middle of an element, which is scrolled to where it is out of view; `tried` are the routes that were tried before. */
export const clickMiddle = async (
  call: Call,
  element: ElementTarget,
  clicks: Clicks,
  tried: readonly string[] = [],
): Promise<Outcome> => {
  const found = await bringIntoView(call, element)
  const { window, target } = found
  const point = centreOf(target)
  if (window.is_on_screen && contains(window, point)) return clickAt(call, found, point, clicks, nameOf(target))
  const routes = [...tried, `click on its middle (${point.x}, ${point.y})`]
  throw new Failure(
    'window_not_visible',
    `${nameOf(target)} cannot be reached; tried: ${routes.join(', ')}, which is not on the screen. Scroll it into view or make the window visible.`,
    { window_id: window.window_id, element_index: target.index, tried: routes },
  )
}

const names = { left: 'Clicked', middle: 'Middle-clicked', right: 'Right-clicked' } as const
const times = ['', '', ' twice', ' three times']

/** Clicks at a point of a window with the agent's own pointer; `where` is how the summary calls the place. */
export const clickAt = async (
  call: Call,
  context: { readonly window: Window; readonly target?: IndexedElement },
  point: Point,
  { button, count, held }: Clicks,
  where: string,
): Promise<Outcome> => {
  const { window, target } = context
  refuseInvisible(window)
  const { window_id } = window
  const request = { window_id, ...point, button, count, modifiers: [...held] }
  const clicked = target ?? elementAt(call.driver.windowCache.snapshot(window.pid, window_id), point)
  const pressed = { ...context, place: clickArea(point), point, ...(clicked && pressedOf(clicked)) }
  const action = await act(call, pressed, () => deliver(call, (agent) => agent.click(request)))
  if (button === 'left') await noteFocusAfterClick(call, window, clicked, point)
  const fields = { ...point, button, route: 'agent_pointer' }
  return answer(`✅ ${names[button]} ${where}${times[count] ?? ''}.`, action, fields)
}

/** Of a control, where it is pressed, which is also where it looks so. */
const pressedOf = ({ element }: IndexedElement): { readonly place: Rect; readonly pressed: Rect } | undefined => {
  if (!isControl(element)) return undefined
  const { x, y, width, height } = frameOf(element)
  const margin = limits.marginPx
  const place = { x: x - margin, y: y - margin, width: width + 2 * margin, height: height + 2 * margin }
  return { place, pressed: place }
}

const frameOf = ({ frame: { x, y, w, h } }: AxElement): Rect => ({ x, y, width: w, height: h })
