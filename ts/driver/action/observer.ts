/** Observing a context: windows, pixels, an element and events as they are now, and the wait for what changes them. */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import { evidence as limits } from '@backlot/contract/limits'
import type { Accessibility, AxElement, Capturer, Desktop, Point, Rect, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import type { IndexedElement } from '../observation/elements.ts'
import type { ActionContext, Observation, Observer } from './evidence.ts'
import { noteActedOn } from './target.ts'

/** The observer of a context; what cannot be read, as the tree of an application without one, is left out. */
export const observerOf = async (call: Call, context: ActionContext): Promise<Observer> => {
  const { window, place, point } = context
  const { pid, window_id } = window
  const { windowCache } = call.driver
  const [desktop, capturer, accessibility] = await Promise.all([
    call.driver.desktop(),
    call.driver.capturer().catch(() => undefined),
    call.driver.accessibility().catch((): Accessibility | undefined => undefined),
  ])
  const map = windowCache.snapshot(pid, window_id)
  // What a click meets is known by where it goes.
  const target = context.target ?? (point && elementAt(map, point))
  noteActedOn(call, { window, target, point })
  const isAccessible = accessibility !== undefined && (map !== undefined || accessibility.generation(pid) > 0)
  const region = place && clip(place, window)
  const around = context.pressed && placesAround(context.pressed, window)
  const sources: Sources = {
    window,
    region,
    around,
    map,
    desktop,
    capturer,
    bus: isAccessible ? accessibility : undefined,
  }
  const observeWith = (element: Promise<AxElement> | undefined) => observeContext(sources, element)
  const reading = () => target?.snapshot.read(target.index)
  return {
    async observeBefore() {
      // The element that was named was read when the action's arguments were checked.
      const known = context.target && Promise.resolve(context.target.element)
      const [observed, active] = await Promise.all([observeWith(known ?? reading()), desktop.activeWindow()])
      const blinks = active === window_id && isAccessible && mayHoldCaret(map)
      return { ...observed, isStatic: (observed.sinceDrawnMs ?? 0) >= limits.staticMs && !blinks }
    },
    observe: () => observeWith(reading()),
    async eventsReceived() {
      // An answer comes behind all that was announced before it.
      if (target === undefined) await map?.read(map.focused() ?? 0).catch(() => undefined)
      else await reading()?.catch(() => undefined)
    },
    async nextEvent(since, timeoutMs) {
      if (accessibility === undefined || since === undefined) await pause(timeoutMs)
      else await accessibility.waitForEvent(pid, since, Math.ceil(timeoutMs))
    },
  }
}

/** What an observation is read from. */
interface Sources {
  readonly window: Window
  /** Where changed pixels count, in window pixels. */
  readonly region: Rect | undefined
  /** What lies around the place that is pressed. */
  readonly around: readonly Rect[] | undefined
  readonly map: Map
  readonly desktop: Desktop
  readonly capturer: Capturer | undefined
  /** None where the application tells nothing over it. */
  readonly bus: Accessibility | undefined
}

const observeContext = async (
  { window: { pid, window_id }, region, around, map, desktop, capturer, bus }: Sources,
  element: Promise<AxElement> | undefined,
): Promise<Observation> => {
  const at = performance.now()
  const events = {
    allEvents: bus?.generation(pid),
    changeEvents: bus?.changeEvents(pid),
    focusEvents: bus?.focusChanges(pid),
    lastFocus: map?.lastFocused(),
    sinceEventMs: bus?.sinceEventMs(pid),
  }
  const digest = (part: Rect) => capturer?.digest(window_id, part).catch(() => undefined)
  const [read, windows, pixels, whole, beside] = await Promise.all([
    element?.catch(goneOrUnseen),
    desktop.windows(),
    region && digest(region),
    capturer?.windowDigest(window_id).catch(() => undefined),
    around && Promise.all(around.map(digest)),
  ])
  return {
    at,
    element: read,
    windows: windows.filter((each) => each.pid === pid),
    place: pixels,
    whole: beside === undefined ? whole?.digest : beside.includes(undefined) ? undefined : beside.join(),
    sinceDrawnMs: whole?.since_drawn_ms,
    ...events,
  }
}

type Map = ReturnType<Call['driver']['windowCache']['snapshot']>

/** The innermost element of a snapshot at a point of its window. */
export const elementAt = (map: Map, { x, y }: Point): IndexedElement | undefined => {
  const index = map?.at(x, y) ?? undefined
  const element = index === undefined ? undefined : map?.element(index)
  return map === undefined || index === undefined || !element ? undefined : { index, snapshot: map, element }
}

/** True unless the element that has the focus takes no text: a caret blinks in the person's active window. */
const mayHoldCaret = (map: Map): boolean => {
  const focused = map?.focused() ?? undefined
  return focused === undefined || map?.element(focused)?.editable !== false
}

/** The part of a place that lies in the window; `undefined` when none does. */
const clip = (place: Rect, { width, height }: Window): Rect | undefined => {
  const [x, y] = [Math.max(0, place.x), Math.max(0, place.y)]
  const [right, bottom] = [Math.min(width, place.x + place.width), Math.min(height, place.y + place.height)]
  return right > x && bottom > y ? { x, y, width: right - x, height: bottom - y } : undefined
}

/** All of a window but a place: above it, below it, and to its left and right. */
const placesAround = ({ x, y, width, height }: Rect, window: Window): Rect[] => {
  const [right, bottom] = [x + width, y + height]
  const sides: Rect[] = [
    { x: 0, y: 0, width: window.width, height: y },
    { x: 0, y: bottom, width: window.width, height: window.height - bottom },
    { x: 0, y, width: x, height },
    { x: right, y, width: window.width - right, height },
  ]
  return sides.flatMap((side) => clip(side, window) ?? [])
}

const goneOrUnseen = (error: unknown): 'gone' | undefined =>
  Failure.from(error).code === 'stale_element' ? 'gone' : undefined
