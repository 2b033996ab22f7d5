/** Setting a value with the agent's own pointer or keyboard, where the toolkit offers nothing for it. */
import { Failure } from '@backlot/contract/failure'
import { accessibleActionTimeoutMs, typingDelayMs } from '@backlot/contract/limits'
import { deliver, deliverClick } from '../action/act.ts'
import type { Evidence } from '../action/evidence.ts'
import { focusForKeys } from '../action/focus.ts'
import { bringIntoView } from '../action/into-view.ts'
import { centreOf, contains, type ElementTarget, nameOf, orStaleElement, refuseInvisible } from '../action/target.ts'
import type { Call } from '../context.ts'
import type { IndexedElement } from '../observation/elements.ts'
import { chooseOpened, noSuchOption, positionOf } from './opened-list.ts'
import { readBack } from './read-back.ts'
import type { Setting } from './setting.ts'
import { isSheetCell, writeCell } from './sheet-cell.ts'

type Route = (call: Call, found: ElementTarget, value: string) => Promise<Setting>

/** How the devices set the value of such an element; `undefined` where they cannot. */
export const routeByDevices = ({ element: { role, editable } }: IndexedElement): Route | undefined => {
  if (role === 'table cell') return editable ? overtypeCell : undefined
  if (role === 'password text') return overtype
  if (editable || entries.has(role)) return onceMore(overtype)
  if (role === 'combo box') return onceMore(chooseStepwise)
  return switches.has(role) ? clickSwitch : undefined
}

/** True for what is on or off. */
export const isSwitch = ({ element: { role } }: IndexedElement): boolean => switches.has(role)

/** A page takes the focus some time after it was given, and keys that come before go nowhere. */
const onceMore =
  (route: Route): Route =>
  async (call, found, value) => {
    const first = await route(call, found, value)
    return first.confirmed || call.signal.aborted ? first : route(call, found, value)
  }

const entries: ReadonlySet<string> = new Set(['entry', 'text', 'password text', 'spin button', 'autocomplete'])
const switches: ReadonlySet<string> = new Set(['check box', 'radio button', 'toggle button', 'switch'])

/** Selects everything in a field and types over it. */
const overtype: Route = async (call, found, value) => {
  const { window, target } = found
  if (target.element.value === value) return { route: 'none', confirmed: true, value, evidence: [] }
  refuseInvisible(window)
  const { window_id } = window
  const { at, evidence } = await focusForKeys(call, found)
  const all = await deliver(call, (agent) => agent.pressKey({ window_id, key: 'a', modifiers: ['ctrl'], at }))
  const typed = await deliver(call, (agent) =>
    value === ''
      ? agent.pressKey({ window_id, key: 'delete', modifiers: [], at })
      : agent.typeText({ window_id, text: value, delay_ms: typingDelayMs, at }),
  )
  const gathered = [...evidence, ...all, ...typed]
  const secret = target.element.role === 'password text'
  return readBack(call, found, 'agent_keyboard', gathered, async () => {
    const now = await orStaleElement(window, target.index, target.snapshot.read(target.index))
    return { value: secret ? null : now.value, confirmed: !secret && now.value === value }
  })
}

/** Types over what a cell holds: a sheet would choose all of its cells where a field chooses its whole text. */
const overtypeCell: Route = async (call, found, value) =>
  (await isSheetCell(found)) ? writeCell(call, found, value) : onceMore(overtype)(call, found, value)

/** Goes from option to option, the list staying closed: with the wheel over it, or with the arrow keys where it takes the focus. */
const chooseStepwise: Route = async (call, found, value) => {
  const { window, target } = found
  refuseInvisible(window)
  const { window_id } = window
  const read = () =>
    orStaleElement(window, target.index, target.snapshot.options(target.index, accessibleActionTimeoutMs))
  const all = await read()
  if (all.length === 0) return chooseOpened(call, found, value)
  const options = all.filter(({ enabled }) => enabled)
  const wanted = positionOf(options, value)
  if (wanted === -1) throw noSuchOption(target, options)
  const from = options.findIndex(({ chosen }) => chosen)
  const steps = wanted - Math.max(from, 0)
  const direction = steps > 0 ? 'down' : 'up'
  const evidence: Evidence[] = []
  const focus = await focusForKeys(call, found).catch(unlessUnfocusable)
  if (focus === undefined) {
    const point = centreOf((await bringIntoView(call, found)).target)
    const turn = (towards: 'up' | 'down', amount: number) =>
      deliver(call, (agent) => agent.wheel({ window_id, ...point, direction: towards, amount, modifiers: [] }))
    // Without a choice there is no first step to count from.
    if (from === -1) evidence.push(...(await turn('up', options.length)))
    if (steps !== 0) evidence.push(...(await turn(direction, Math.abs(steps))))
  } else {
    const { at } = focus
    const press = (key: string) => deliver(call, (agent) => agent.pressKey({ window_id, key, modifiers: [], at }))
    evidence.push(...focus.evidence)
    if (from === -1) evidence.push(...(await press('home')))
    for (let step = 0; step < Math.abs(steps); step += 1) evidence.push(...(await press(direction)))
  }
  return readBack(call, found, focus === undefined ? 'agent_pointer' : 'agent_keyboard', evidence, async () => {
    const chosen = (await read()).find((option) => option.chosen)
    return { value: chosen?.label ?? null, confirmed: chosen?.label === options[wanted]?.label }
  })
}

const unlessUnfocusable = (error: unknown): undefined => {
  if (Failure.from(error).code !== 'element_not_focusable') throw error
}

/** Clicks what is on or off, where it is not as wanted. */
const clickSwitch: Route = async (call, found) => {
  const { window, target } = found
  // The toolkit was asked first, and would have answered if the value were the one wanted, or none of the two.
  const wanted = target.element.value === 'checked' ? 'unchecked' : 'checked'
  refuseInvisible(window)
  const point = centreOf((await bringIntoView(call, found)).target)
  if (!contains(window, point)) {
    throw new Failure(
      'window_not_visible',
      `${nameOf(target)} cannot be reached; tried: the toolkit, and a click on its middle (${point.x}, ${point.y}), which is not in the window. Scroll it into view.`,
      { window_id: window.window_id, element_index: target.index },
    )
  }
  const evidence = await deliverClick(call, window, point)
  return readBack(call, found, 'agent_pointer', evidence, async () => {
    const now = await orStaleElement(window, target.index, target.snapshot.read(target.index))
    return { value: now.value, confirmed: now.value === wanted }
  })
}
