/** Choosing from a list that has its options only while it is open: opened, chosen from and closed in one call. */
import { Failure } from '@backlot/contract/failure'
import { accessibleActionTimeoutMs, valueAppearsMs } from '@backlot/contract/limits'
import type { AxOption, Point, Window } from '@backlot/native'
import { deliver, deliverClick } from '../action/act.ts'
import type { Evidence } from '../action/evidence.ts'
import { bringIntoView } from '../action/into-view.ts'
import { centreOf, contains, type ElementTarget, nameOf, orStaleElement, refuseInvisible } from '../action/target.ts'
import type { Call } from '../context.ts'
import { reasonOf } from '../ending.ts'
import type { Setting } from './setting.ts'

/** Milliseconds for which an application that is choosing from its own list may leave questions unanswered. */
const busyApplicationMs = 12_000

/** Position of the option that a value names: as it is written, else in any case and spacing; -1 for none. */
export const positionOf = (options: readonly AxOption[], value: string): number => {
  const exact = options.findIndex(({ label }) => label === value)
  return exact === -1 ? options.findIndex(({ label }) => folded(label) === folded(value)) : exact
}

const folded = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase()

/** The refusal of a value that is none of the options, which it names. */
export const noSuchOption = (target: ElementTarget['target'], options: readonly AxOption[]): Failure =>
  new Failure(
    'value_not_accepted',
    `${nameOf(target)} has no such option; it has: ${options.map(({ label }) => `"${label}"`).join(', ')}. Use one of these.`,
    { element_index: target.index },
  )

/**
 * Opens the list of a combo box with the agent's pointer, goes to the option with the arrow keys and takes it with
 * Return. Where that fails, Escape closes the list; a call that is aborted leaves it open, because nothing may act any
 * more. Throws `value_not_accepted` for what is no option, and `value_not_supported` where the open list tells no options.
 */
export const chooseOpened = async (call: Call, found: ElementTarget, value: string): Promise<Setting> => {
  refuseInvisible(found.window)
  const { window, target } = await bringIntoView(call, found)
  const { window_id } = window
  const point = openingPoint(window, target)
  const evidence: Evidence[] = []
  const press = async (key: string) => {
    evidence.push(...(await deliver(call, (agent) => agent.pressKey({ window_id, key, modifiers: [], at: null }))))
  }
  const read = async () => {
    if (call.signal.aborted) throw reasonOf(call.signal)
    return orStaleElement(window, target.index, target.snapshot.options(target.index, accessibleActionTimeoutMs))
  }
  let options = await read()
  let isTaken = false
  try {
    if (options.length === 0) {
      evidence.push(...(await deliverClick(call, window, point)))
      options = await waitFor(call, found, read, (now) => now.length > 0)
    }
    if (options.length === 0) throw namesNone(target)
    const able = options.filter(({ enabled }) => enabled)
    const wanted = able[positionOf(able, value)]
    if (wanted === undefined) throw noSuchOption(target, able)
    for (const key of keysTo(options, wanted)) await press(key)
    const isAt = (now: readonly AxOption[]) => now.some(({ chosen, label }) => chosen && label === wanted.label)
    const reached = await waitFor(call, found, read, isAt)
    if (isAt(reached)) {
      await press('return')
      const left = await waitFor(call, found, read, (now) => now.length === 0)
      isTaken = left.length === 0
    }
    if (!isTaken) return { route: 'agent_keyboard', confirmed: false, value: null, evidence: evidence }
    return await readShown(call, found, wanted.label, evidence)
  } finally {
    // What ended it is told, and not that the list could not be closed: the next picture shows that.
    const close = () => call.gesture((agent) => agent.pressKey({ window_id, key: 'escape', modifiers: [], at: null }))
    if (!isTaken) await close().catch(() => undefined)
  }
}

/** Where a click opens the list; throws `window_not_visible` for a place that the window does not show. */
const openingPoint = (window: Window, target: ElementTarget['target']): Point => {
  const point = centreOf(target)
  if (contains(window, point)) return point
  throw new Failure(
    'window_not_visible',
    `${nameOf(target)} cannot be opened: its middle (${point.x}, ${point.y}) is not in the window. Scroll it into view.`,
    { window_id: window.window_id, element_index: target.index },
  )
}

/** The keys that lead from the option that is chosen to the wanted one. */
const keysTo = (options: readonly AxOption[], wanted: AxOption): string[] => {
  const from = options.findIndex(({ chosen }) => chosen)
  const steps = options.indexOf(wanted) - Math.max(from, 0)
  const arrows = Array.from({ length: Math.abs(steps) }, () => (steps > 0 ? 'down' : 'up'))
  // Without a choice there is no first step to count from.
  return from === -1 ? ['home', ...arrows] : arrows
}

/** Asks the toolkit for what the closed box shows, until it is what was chosen. */
const readShown = async (
  call: Call,
  found: ElementTarget,
  value: string,
  evidence: readonly Evidence[],
): Promise<Setting> => {
  const { snapshot, index } = found.target
  const ask = () =>
    snapshot.setValue(index, value, accessibleActionTimeoutMs).catch((error) => {
      if (Failure.from(error).code !== 'value_not_supported') throw error
    })
  const shown = await waitFor(call, found, ask, (now) => now !== undefined)
  return { route: 'agent_keyboard', confirmed: shown?.confirmed === true, value: shown?.value ?? null, evidence }
}

/** Reads until it is as wanted, for a while; what keeps the application from answering, as drawing its first list does, does not count. */
const waitFor = async <T>(
  call: Call,
  { window: { pid } }: ElementTarget,
  read: () => Promise<T>,
  isWanted: (now: T) => boolean,
): Promise<T> => {
  const accessibility = await call.driver.accessibility()
  const latest = performance.now() + busyApplicationMs
  let deadline = performance.now() + valueAppearsMs
  const answer = async (): Promise<T> => {
    for (;;) {
      try {
        return await read()
      } catch (error) {
        const at = performance.now()
        if (Failure.from(error).code !== 'accessibility_timeout' || at >= latest) throw error
        deadline = Math.min(latest, at + valueAppearsMs)
      }
    }
  }
  for (;;) {
    const events = accessibility.generation(pid)
    const now = await answer()
    const remaining = deadline - performance.now()
    if (isWanted(now) || remaining <= 0) return now
    await accessibility.waitForEvent(pid, events, Math.ceil(Math.min(remaining, 50)))
  }
}

const namesNone = (target: ElementTarget['target']): Failure =>
  new Failure(
    'value_not_supported',
    `${nameOf(target)} was opened, and its toolkit names none of its options (GtkComboBox of GTK 4 does not). Click it, look at the picture of its list, and press down or up and return.`,
    { element_index: target.index },
  )
