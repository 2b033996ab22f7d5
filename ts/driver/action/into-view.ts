/** Bringing an element into view before a pointer acts on it: through the toolkit, else by the wheel at its place. */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import { scroll as amounts } from '@backlot/contract/limits'
import type { AxFrame, AxPlace, Point, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import { reasonOf } from '../ending.ts'
import type { Notes } from '../notes.ts'
import { contains, type ElementTarget, middleOf, nameOf, orStaleElement } from './target.ts'

/** Bringing an element into view. */
const limits = {
  /** Gestures of the wheel at most. */
  turns: 60,
  /** Milliseconds in which what was scrolled begins to move, and in which it comes to rest. */
  movesMs: 400,
  settlesMs: 2_500,
  /** Milliseconds between two looks. */
  pollIntervalMs: 30,
  /** Milliseconds in which a sheet is scrolled to one of its cells: some hundred thousand rows on a machine that is not busy. */
  sheetMs: 20_000,
} as const

type By = NonNullable<Notes['scrolled']>

/**
 * The element where a pointer can get to it: scrolled to first where it is out of view. Of a window that shows nothing
 * it stays where it is. Throws `window_not_visible` where it cannot be brought into view.
 */
export const bringIntoView = async (call: Call, found: ElementTarget): Promise<ElementTarget> => {
  const { window, target } = found
  if (!window.is_on_screen || window.is_minimized) return found
  const before = await orStaleElement(window, target.index, target.snapshot.place(target.index))
  const isOfSheet = isPlaceless(before) && target.element.role === 'table cell'
  if (!isOfSheet && !isHidden(before, window)) return found
  const by = isOfSheet
    ? await scrollSheet(call, found)
    : ((await scrollByToolkit(call, found, before)) ?? (await scrollByWheel(call, found, before)))
  if (by === undefined) {
    const tried = ['scroll request of the toolkit', 'wheel at its place']
    throw new Failure(
      'window_not_visible',
      `${nameOf(target)} is out of view; tried: ${tried.join(', ')}, and neither brought it into view. Scroll to it, then call get_window_state.`,
      { window_id: window.window_id, element_index: target.index, tried },
    )
  }
  call.notes.scrolled = by
  const element = await orStaleElement(window, target.index, target.snapshot.read(target.index))
  return { window, target: { ...target, element } }
}

/** The part of an element that a pointer can get to, in window pixels; `undefined` where there is none. */
export const visiblePart = async (call: Call, { window, target }: ElementTarget): Promise<AxFrame | undefined> => {
  const { frame, area } = await orStaleElement(window, target.index, target.snapshot.place(target.index))
  if (call.signal.aborted) throw reasonOf(call.signal)
  const part = common(common(frame, area), { x: 0, y: 0, w: window.width, h: window.height })
  return part.w > 0 && part.h > 0 ? part : undefined
}

const common = (a: AxFrame, b: AxFrame): AxFrame => {
  const [x, y] = [Math.max(a.x, b.x), Math.max(a.y, b.y)]
  const [w, h] = [Math.min(a.x + a.w, b.x + b.w) - x, Math.min(a.y + a.h, b.y + b.h) - y]
  return { x, y, w: Math.max(0, w), h: Math.max(0, h) }
}

/** True when the middle of the element lies where its window shows something else, or nothing. */
const isHidden = ({ frame, area, estimated }: AxPlace, window: Window): boolean => {
  // What has no place at all cannot be looked for.
  if (isPlaceless({ frame })) return false
  if (estimated) return true
  const point = middleOf(frame)
  return !contains(window, point) || (area.w > 0 && area.h > 0 && !holds(area, point))
}

const isPlaceless = ({ frame }: Pick<AxPlace, 'frame'>): boolean => frame.w === 0 && frame.h === 0

/** Why a cell beyond the view of its sheet is not clicked: another one would be hit. */
const outOfSheet = ({ window, target }: ElementTarget): Failure => {
  const tried = ['scroll bars of its sheet']
  return new Failure(
    'window_not_visible',
    `${nameOf(target)} is out of view; tried: ${tried.join(', ')}, which did not show it: it is hidden, in a part that does not scroll, or too far away. Scroll to it, then call get_window_state.`,
    { window_id: window.window_id, element_index: target.index, tried },
  )
}

const holds = (area: AxFrame, { x, y }: Point): boolean =>
  x >= area.x && y >= area.y && x < area.x + area.w && y < area.y + area.h

const scrollByToolkit = async (call: Call, found: ElementTarget, before: AxPlace): Promise<By | undefined> => {
  const { window, target } = found
  if (!(await orStaleElement(window, target.index, target.snapshot.scrollTo(target.index)))) return undefined
  return isHidden(await placeAfter(call, found, before), window) ? undefined : 'toolkit'
}

/**
 * Scrolls a sheet to one of its cells. The application moves it before it answers, and says by that cell's own place when
 * it shows it: a wheel turned meanwhile would move what nobody has read. Throws `window_not_visible`.
 */
const scrollSheet = async (call: Call, found: ElementTarget): Promise<By> => {
  const { window, target } = found
  const end = performance.now() + limits.sheetMs
  while (performance.now() < end) {
    if (call.signal.aborted) throw reasonOf(call.signal)
    if (!(await orStaleElement(window, target.index, target.snapshot.scrollTo(target.index)))) break
    const place = await orStaleElement(window, target.index, target.snapshot.place(target.index))
    if (!isPlaceless(place) && !isHidden(place, window)) return 'toolkit'
  }
  throw outOfSheet(found)
}

/** Turns the wheel where the element would be seen, as far as what it moves shows to be needed. */
const scrollByWheel = async (call: Call, found: ElementTarget, before: AxPlace): Promise<By | undefined> => {
  const { window } = found
  let place = before
  let step: number | undefined
  for (let turn = 0; turn < limits.turns; turn += 1) {
    const area = common(place.area, { x: 0, y: 0, w: window.width, h: window.height })
    if (area.w === 0 || area.h === 0) return undefined
    const [at, middle] = [middleOf(place.frame), middleOf(area)]
    const isUpright = place.estimated || at.y < area.y || at.y >= area.y + area.h
    const gap = isUpright ? at.y - middle.y : at.x - middle.x
    const amount = step === undefined ? 1 : Math.min(amounts.most, Math.max(1, Math.round(Math.abs(gap) / step)))
    const [forth, back] = isUpright ? (['down', 'up'] as const) : (['right', 'left'] as const)
    const direction = gap > 0 ? forth : back
    const point = wheelPoint(found, area)
    const request = { window_id: window.window_id, ...point, direction, amount, modifiers: [] }
    await call.gesture((agent) => agent.wheel(request))
    const after = await placeAfter(call, found, place)
    if (!isHidden(after, window)) return 'wheel'
    const moved = isUpright ? Math.abs(after.frame.y - place.frame.y) : Math.abs(after.frame.x - place.frame.x)
    if (moved === 0) return undefined
    step = moved / amount
    place = after
  }
  return undefined
}

/** A place of the area where the wheel operates nothing else. */
const wheelPoint = ({ target }: ElementTarget, area: AxFrame): Point => {
  const parts = [0.5, 0.05, 0.95, 0.25, 0.75]
  const points = parts.flatMap((down) =>
    parts.map((along) => ({ x: Math.floor(area.x + area.w * along), y: Math.floor(area.y + area.h * down) })),
  )
  const isFree = ({ x, y }: Point): boolean => {
    const index = target.snapshot.at(x, y)
    const role = index === null || index === undefined ? undefined : target.snapshot.element(index)?.role
    return role === undefined || !turning.has(role)
  }
  return points.find(isFree) ?? middleOf(area)
}

/** What takes the wheel for itself. */
const turning: ReadonlySet<string> = new Set(['combo box', 'spin button', 'slider', 'dial', 'scroll bar', 'page tab'])

/** Where the element is once it has moved and stands still, or has not moved for a while. */
const placeAfter = async (call: Call, { window, target }: ElementTarget, before: AxPlace): Promise<AxPlace> => {
  const read = () => orStaleElement(window, target.index, target.snapshot.place(target.index))
  const deadline = performance.now() + limits.movesMs
  const end = performance.now() + limits.settlesMs
  let last = await read()
  for (;;) {
    await pause(limits.pollIntervalMs)
    if (call.signal.aborted) throw reasonOf(call.signal)
    const now = await read()
    const isStill = isAt(now, last)
    if (isStill && (!isAt(now, before) || performance.now() >= deadline)) return now
    if (performance.now() >= end) return now
    last = now
  }
}

const isAt = ({ frame: a }: AxPlace, { frame: b }: AxPlace): boolean => a.x === b.x && a.y === b.y
