/**
 * Which element of a window that is not active has the focus within it, and so gets the keys. Most toolkits tell the focus of
 * the active window alone, so it is what they told last, or what an action of ours has made it since.
 */
import type { AxSnapshot, Point, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import type { IndexedElement } from '../observation/elements.ts'

/** Remembers that an action gave the focus to `target`, or without one that it may have moved it. */
export const noteFocusedElement = async (call: Call, window: Window, target?: IndexedElement): Promise<void> => {
  const accessibility = await call.driver.accessibility().catch(() => undefined)
  if (accessibility === undefined) return
  const token = target && (target.snapshot.token(target.index) || undefined)
  call.driver.focusedElements.note(window, { token, changes: accessibility.focusChanges(window.pid) })
}

/** The same after a click on an element at `point`: one into which text is written takes the focus by it. */
export const noteFocusAfterClick = async (
  call: Call,
  window: Window,
  target: IndexedElement | undefined,
  point: Point,
): Promise<void> => {
  if (!target?.element.editable) return
  // The tree that it was found in may be older than what was clicked.
  const now = await target.snapshot.read(target.index).catch(() => undefined)
  const { x, y, w, h } = now?.frame ?? { x: 0, y: 0, w: 0, h: 0 }
  const isHit = point.x >= x && point.y >= y && point.x < x + w && point.y < y + h
  if (isHit) await noteFocusedElement(call, window, target)
}

/**
 * The element that has the focus within a window that is not active; `undefined` where that is not known. In the active window
 * the toolkit tells it, and what it does not tell there nobody knows.
 */
export const inactiveFocus = async (
  call: Call,
  window: Window,
  snapshot: AxSnapshot,
): Promise<IndexedElement | undefined> => {
  const { pid, window_id } = window
  const [accessibility, desktop] = await Promise.all([call.driver.accessibility(), call.driver.desktop()])
  if ((await desktop.activeWindow()) === window_id) return undefined
  const noted = call.driver.focusedElements.of(window)
  const isLatest = noted?.changes === accessibility.focusChanges(pid)
  const index = isLatest ? indexOf(snapshot, noted?.token) : snapshot.lastFocused()
  const element = index === null ? null : snapshot.element(index)
  return index !== null && element ? { index, snapshot, element } : undefined
}

const indexOf = (snapshot: AxSnapshot, token: string | undefined): number | null => {
  const found = token === undefined ? null : snapshot.find(token)
  return found?.how === 'same' ? found.element_index : null
}
