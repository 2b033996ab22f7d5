/** The element that keys go to: finding it, and making another one it. */
import { Failure } from '@backlot/contract/failure'
import { evidence as evidenceLimits } from '@backlot/contract/limits'
import type { AxElement, Point, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import type { IndexedElement } from '../observation/elements.ts'
import { readUntil } from '../observation/read-until.ts'
import { defaultLimits, readTree } from '../observation/trees.ts'
import { act, deliverClick } from './act.ts'
import { type Evidence, isConfirming } from './evidence.ts'
import { inactiveFocus } from './focused-element.ts'
import { bringIntoView } from './into-view.ts'
import { centreOf, contains, type ElementTarget, nameOf, orStaleElement } from './target.ts'
import { hasPassword, keepSecret } from './typing.ts'

/** Milliseconds that an element may take until it has the focus that its toolkit gave it. */
const focusAppearsMs = 500

/** An element that keys go to now. */
export interface Focused {
  /** Read again, so that its new focus is not taken for an effect of the keys. */
  readonly target: IndexedElement
  /** Its middle in window pixels, where that lies in the window. */
  readonly at: Point | null
  readonly evidence: readonly Evidence[]
}

/** What takes text in parts of its own: a click on its middle chooses the one that lies there. */
const tables: ReadonlySet<string> = new Set(['table', 'tree table', 'tree', 'list', 'list box'])

/** True of an element that gets the focus by a click on its middle, and nothing else by it. */
export const takesFocusByClick = ({ editable, role }: Pick<AxElement, 'editable' | 'role'>): boolean =>
  editable && !tables.has(role)

/**
 * Gives the element that a call names its window's inner focus: through the toolkit, else by a click on its middle where it
 * takes text (a click would operate anything else). Throws `element_not_focusable`.
 */
export const focusForKeys = async (call: Call, context: ElementTarget): Promise<Focused> => {
  const { window, target } = context
  const at = middleIn(context)
  if (isFocused(target.element)) return { target, at, evidence: [] }
  if (await orStaleElement(window, target.index, target.snapshot.focus(target.index))) {
    await untilFocused(call, context)
    return focused(context, at, [], 'the toolkit')
  }
  const reached = takesFocusByClick(target.element) ? (await bringIntoView(call, context)).target : target
  const place = centreOf(reached)
  if (!takesFocusByClick(target.element) || !contains(window, place)) {
    throw new Failure(
      'element_not_focusable',
      `${nameOf(target)} does not take the focus; tried: the toolkit's focus request. Leave element_index out to send the keys to the window, or click the element first.`,
      { element_index: target.index, tried: ['focus request of the toolkit'] },
    )
  }
  const { evidence } = await act(call, context, () => deliverClick(call, window, place))
  await untilChosen(call, context)
  return focused(context, place, evidence, 'a click on its middle')
}

/**
 * Waits until a cell of a sheet that was clicked is the chosen one: keys would be written into another. Throws
 * `element_not_focusable`.
 */
const untilChosen = async (call: Call, { window, target }: ElementTarget): Promise<void> => {
  const read = () => orStaleElement(window, target.index, target.snapshot.cell(target.index, ''))
  if (target.element.role !== 'table cell' || (await read()) === null) return
  // What was chosen before the click may have been this cell too.
  await (await call.driver.queues()).handled(window.window_id, evidenceLimits.handledMs)
  const isChosen = (cell: Awaited<ReturnType<typeof read>>) => cell?.is_chosen === true
  if (isChosen(await readUntil(call, window.pid, focusAppearsMs, read, isChosen))) return
  throw new Failure(
    'element_not_focusable',
    `${nameOf(target)} was clicked, but its sheet has not chosen that cell alone, so keys might be written into another. Nothing was typed. Look at the window with get_window_state.`,
    { element_index: target.index, tried: ['a click on its middle'] },
  )
}

/** The middle of an element in window pixels, where that lies in the window. */
export const middleIn = ({ window, target }: ElementTarget): Point | null => {
  const point = centreOf(target)
  return contains(window, point) ? point : null
}

/**
 * Waits until the element has the focus where another one says that it has: keys that come too early would go to that
 * one. Toolkits whose inactive windows say nothing of the focus are not waited for. Throws `element_not_focusable`.
 */
const untilFocused = async (call: Call, { window, target }: ElementTarget): Promise<void> => {
  const before = target.snapshot.focused() ?? undefined
  if (before === undefined || before === target.index) return
  /** The other element while that has the focus and the one that is waited for has not. */
  const readOther = async () => {
    const [now, other] = await Promise.all([
      orStaleElement(window, target.index, target.snapshot.read(target.index)),
      target.snapshot.read(before).catch(() => undefined),
    ])
    return isFocused(now) || other === undefined || !isFocused(other) ? undefined : other
  }
  const other = await readUntil(call, window.pid, focusAppearsMs, readOther, (found) => found === undefined)
  if (other === undefined) return
  throw new Failure(
    'element_not_focusable',
    `${nameOf(target)} was given the focus, but ${other.role} "${other.label}" keeps it and would get the keys. Click the element first.`,
    { element_index: target.index, tried: ['focus request of the toolkit'] },
  )
}

const isFocused = (element: AxElement): boolean => element.states.includes('focused')

const focused = async (
  { window, target }: ElementTarget,
  at: Point | null,
  evidence: readonly Evidence[],
  by: string,
): Promise<Focused> => {
  const element = await orStaleElement(window, target.index, target.snapshot.read(target.index))
  const says = isFocused(element) ? 'has the focus' : 'does not say that it has the focus'
  return {
    target: { ...target, element },
    at,
    evidence: [
      ...evidence.filter((each) => !isConfirming(each)),
      { kind: 'focus_given', detail: `after ${by} the element ${says}` },
    ],
  }
}

/** The element of the window that has the focus, if its application says so or it is known from before. */
export const focusedElement = async (call: Call, window: Window): Promise<IndexedElement | undefined> => {
  const { pid, window_id } = window
  const known = call.driver.windowCache.snapshot(pid, window_id)
  const index = known?.focused() ?? undefined
  if (known !== undefined && index !== undefined) {
    const element = await known.read(index).catch(() => undefined)
    if (element !== undefined && isFocused(element)) return { index, snapshot: known, element }
  }
  try {
    const snapshot = await readTree(call, window, defaultLimits)
    const focused = snapshot.focused() ?? undefined
    const element = focused === undefined ? undefined : snapshot.element(focused)
    if (focused !== undefined && element) return { index: focused, snapshot, element }
    const inner = await inactiveFocus(call, window, snapshot)
    // Where the focus is not known, it may be in any password field.
    if (!inner && call.types?.length && hasPassword(snapshot.markdown(null, false))) keepSecret(call, call.types)
    return inner
  } catch (error) {
    // An application without a tree still takes keys.
    if (Failure.from(error).code === 'display_lost') throw error
    return undefined
  }
}
