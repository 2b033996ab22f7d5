/** The element that keys go to: finding it, and making another one it. */
import { Failure } from '@backlot/contract/failure'
import { tree } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import type { Call } from './call.ts'
import type { SeenElement } from './elements.ts'
import { personAfter } from './evidence.ts'
import { centreOf, contains, nameOf, type Point, unlessGone } from './target.ts'
import type { Evidence } from './witnesses.ts'

/**
 * Gives an element its window's inner focus: through the toolkit, else by a click on its middle where it takes text (a
 * click would operate anything else). Throws `element_not_focusable`.
 */
export const focusForKeys = async (
  call: Call,
  { window, target }: { readonly window: Window; readonly target: SeenElement },
): Promise<{ at: Point | null; evidence: Evidence[] }> => {
  const point = centreOf(target)
  const at = contains(window, point) ? point : null
  if (target.element.states.includes('focused')) return { at, evidence: [] }
  if (await unlessGone(window, target.index, target.snapshot.focus(target.index))) {
    return { at, evidence: [{ kind: 'ax_action', detail: 'the toolkit accepted the focus' }] }
  }
  if (!target.element.editable || at === null) {
    throw new Failure(
      'element_not_focusable',
      `${nameOf(target)} does not take the focus; tried: the toolkit's focus request. Leave element_index out to send the keys to the window, or click the element first.`,
      { element_index: target.index },
    )
  }
  const agent = await call.driver.agent()
  const { window_id } = window
  return {
    at,
    evidence: [personAfter(await agent.click({ window_id, ...at, button: 'left', count: 1, modifiers: [] }))],
  }
}

/** The element of the window that has the focus, if its application says so. */
export const focusedElement = async (call: Call, window: Window): Promise<SeenElement | undefined> => {
  const { pid, window_id, title, bounds } = window
  const known = call.driver.seen.snapshot(pid, window_id)
  const index = known?.focused() ?? undefined
  if (known !== undefined && index !== undefined) {
    const element = await known.read(index).catch(() => undefined)
    if (element?.states.includes('focused')) return { index, snapshot: known, element }
  }
  const limits = { max_elements: tree.maxElements, max_depth: tree.maxDepth, timeout_ms: tree.timeoutMs }
  try {
    const accessibility = await call.driver.accessibility()
    const snapshot = await accessibility.snapshot({ pid, window_id, title, bounds, ...limits })
    const focused = snapshot.focused() ?? undefined
    const element = focused === undefined ? undefined : snapshot.element(focused)
    return focused === undefined || !element ? undefined : { index: focused, snapshot, element }
  } catch (error) {
    // An application without a tree still takes keys.
    if (Failure.from(error).code === 'display_lost') throw error
    return undefined
  }
}
