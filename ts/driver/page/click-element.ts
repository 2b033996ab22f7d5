/** Clicking an element of a page with trusted events, and seeing whether it got them. */

import { setTimeout as pause } from 'node:timers/promises'
import { boundsOf } from '@backlot/contract/desktop'
import { Failure } from '@backlot/contract/failure'
import { page as limits, evidence as looking } from '@backlot/contract/limits'
import type { Point, Window } from '@backlot/native'
import { act, answer, deliver, deliverClick } from '../action/act.ts'
import type { Evidence } from '../action/evidence.ts'
import { clickArea, refuseInvisible } from '../action/target.ts'
import type { Call } from '../context.ts'
import type { Outcome } from '../tool/tool.ts'
import { asFacts, asText, BrowserRefused, type Facts } from './browser-socket.ts'
import { ask, invalidSelector } from './read.ts'
import aim from './scripts/aim.page.js' with { type: 'text' }
import notes from './scripts/notes.page.js' with { type: 'text' }
import type { ShownPage } from './shown-page.ts'

/**
 * Scrolls the first match of the selector into view and clicks its middle. Throws `page_element_not_found`, and
 * `page_element_not_clickable` where a click there would not meet it.
 */
export const clickElement = async (call: Call, shownPage: ShownPage, selector: string): Promise<Outcome> => {
  const { page, window, tab } = shownPage
  const aimed = await ask(page, aim, { selector, settleMs: limits.settleMs }, limits.commandMs)
  if (aimed.invalid !== undefined) throw invalidSelector('selector', selector, aimed.invalid)
  refuseUnclickable(selector, aimed)
  const [x, y] = [Number(aimed.x), Number(aimed.y)]
  await page.move(x, y, limits.commandMs)
  const noted = await ask(page, notes, {}, limits.commandMs)
  const place = placeOf(window, asFacts(aimed.viewport), asFacts(noted.mouse), { x, y })
  if (noted.met === false) throw unclickable(selector, 'is covered', { by: 'something that appeared under the mouse' })
  const device = await deviceFor(call, shownPage, selector, place)
  const context = { window, ...(place && { place: clickArea(place), cursorPoint: place }) }
  const clicked = await act(call, context, async () => [
    ...(await device.press({ x, y })),
    ...(await received(shownPage)),
  ])
  const others = Number(aimed.count) > 1 ? ` (the first of ${aimed.count} that match)` : ''
  const name = `<${asText(aimed.tag)}>${asText(aimed.text) === '' ? '' : ` "${asText(aimed.text)}"`}`
  return answer(`✅ Clicked ${name}${others} in "${tab.title}".`, clicked, {
    selector,
    matches: aimed.count,
    viewport_x: x,
    viewport_y: y,
    screen_x: place === undefined || window.x === null ? null : window.x + place.x,
    screen_y: place === undefined || window.y === null ? null : window.y + place.y,
    pointer_moved: device.isPointed,
    route: device.route,
  })
}

/** What clicks: the page's own mouse, or the agent's pointer where the browser would come to the front for its own. */
interface ClickDevice {
  readonly route: string
  readonly isPointed: boolean
  /** Clicks at a place of the viewport: what the agent's pointer left as it was for that. */
  press(viewport: Point): Promise<readonly Evidence[]>
}

/** Puts the agent's pointer where the click will be; a place that it cannot get to, the page's own mouse may. */
const deviceFor = async (
  call: Call,
  { page, window }: ShownPage,
  selector: string,
  place: Point | undefined,
): Promise<ClickDevice> => {
  const { window_id } = window
  const press = page.press?.bind(page)
  if (press === undefined) {
    refuseInvisible(window)
    if (place === undefined) throw unclickable(selector, 'lies in a part of the page that the window does not show', {})
    return {
      route: 'agent_pointer',
      isPointed: true,
      press: () => deliverClick(call, window, place),
    }
  }
  const pointed = place && (await deliver(call, (agent) => agent.move({ window_id, ...place })).catch(unlessReachable))
  return {
    route: page.route,
    isPointed: pointed !== undefined,
    async press({ x, y }) {
      await press(x, y, limits.commandMs)
      return pointed ?? []
    },
  }
}

const unlessReachable = (error: unknown): undefined => {
  if (!unreachable.has(Failure.from(error).code)) throw error
}

/** Why a pointer may not get to a place that the page's own mouse can click. */
const unreachable: ReadonlySet<string> = new Set([
  'window_not_visible',
  'window_covered',
  'point_outside_window',
  'input_unavailable',
  'foreground_only',
])

const refuseUnclickable = (selector: string, { count, refused, by }: Facts): void => {
  if (count === 0) {
    throw new Failure(
      'page_element_not_found',
      `No element of the page matches "${selector}". Call page with query_dom to see what there is; frames are not searched.`,
      { selector },
    )
  }
  if (refused !== undefined) throw unclickable(selector, asText(refused), by === undefined ? {} : { by: asText(by) })
}

const unclickable = (selector: string, reason: string, facts: { by?: string }): Failure =>
  new Failure(
    'page_element_not_clickable',
    `The element that matches "${selector}" ${reason}${facts.by === undefined ? '' : ` by ${facts.by}`}, so a click would not meet it. Call get_window_state to look, and make it clickable first.`,
    { selector, reason, ...facts },
  )

/** Whether the element got the click, as soon as it did; a page that is left at once takes its notes with it. */
const received = async ({ page }: ShownPage): Promise<Evidence[]> => {
  const left: Evidence = { kind: 'state_changed', detail: 'the page was left for another' }
  const deadline = performance.now() + looking.ceilingMs
  try {
    for (;;) {
      const isOver = performance.now() >= deadline
      const { clicked } = await ask(page, notes, { stop: isOver }, limits.backgroundMs)
      if (clicked === undefined) return [left]
      if (clicked === true) return [{ kind: 'event_received', detail: 'the element got a trusted click' }]
      if (isOver) return []
      await pause(looking.pollIntervalMs)
    }
  } catch (error) {
    if (page.dialog !== undefined) {
      return [{ kind: 'state_changed', detail: `the page shows a dialog (${page.dialog.type})` }]
    }
    return error instanceof BrowserRefused ? [left] : []
  }
}

/** Where in the window a place of the viewport is; `undefined` where the browser does not tell. */
const placeOf = (window: Window, viewport: Facts, mouse: Facts, { x, y }: Point): Point | undefined => {
  const { ratio, inner_screen_x, inner_screen_y, outer_width } = viewport
  if (typeof inner_screen_x === 'number' && typeof inner_screen_y === 'number') {
    const scale = Number(ratio)
    return within(window, (inner_screen_x + x) * scale, (inner_screen_y + y) * scale)
  }
  const { screen_x, screen_y } = mouse
  if (typeof screen_x !== 'number' || typeof screen_y !== 'number') return undefined
  // Chromium counts the screen in units that its zoom does not change, and that a display's scale may make larger.
  const scale = Math.max(1, Math.round((window.width / Number(outer_width)) * 4) / 4)
  return within(window, screen_x * scale, screen_y * scale)
}

const within = (window: Window, screenX: number, screenY: number): Point | undefined => {
  const { x: left, y: top } = boundsOf(window)
  const [x, y] = [Math.floor(screenX) - left, Math.floor(screenY) - top]
  return x >= 0 && y >= 0 && x < window.width && y < window.height ? { x, y } : undefined
}
