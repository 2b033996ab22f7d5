/** Values: set through the toolkit, else by the agent's own pointer or keyboard, and always read back. */
import { Failure } from '@backlot/contract/failure'
import { accessibleActionTimeoutMs, longestText } from '@backlot/contract/limits'
import { Type } from '@sinclair/typebox'
import { answer } from '../action/act.ts'
import type { Evidence } from '../action/evidence.ts'
import { type ElementTarget, namedElement, nameOf, orUnknownOutcome, refuseDisabled } from '../action/target.ts'
import { reasonOf } from '../ending.ts'
import { elementIndex, pid, windowId } from '../tool/arguments.ts'
import { acts, type Outcome, tool } from '../tool/tool.ts'
import { isSwitch, routeByDevices } from '../value/devices.ts'
import type { Setting } from '../value/setting.ts'

export const setValue = tool({
  name: 'set_value',
  title: 'Set a value',
  description:
    "Sets a value in one call, opening a list only where its toolkit must: an option's name, a number, on or off, or a field's whole text.",
  arguments: Type.Object({
    pid,
    window_id: windowId,
    element_index: elementIndex,
    value: Type.String({ maxLength: longestText }),
  }),
  attributes: { ...acts('accessibility'), idempotent: true, types: ['value'] },
  async run(call, args) {
    const found = await namedElement(call, args)
    refuseDisabled(found.target)
    if (call.signal.aborted) throw reasonOf(call.signal)
    const throughToolkit = await setThroughToolkit(found, args.value)
    if (throughToolkit.setting?.confirmed === true) return outcomeOf(found, throughToolkit.setting)
    // A switch that the toolkit has pressed would be pressed back.
    const isPressed = throughToolkit.setting !== undefined && isSwitch(found.target)
    const byDevices = isPressed ? undefined : routeByDevices(found.target)
    if (byDevices !== undefined) return outcomeOf(found, await byDevices(call, found, args.value))
    if (throughToolkit.setting === undefined) throw throughToolkit.refusal
    return outcomeOf(found, throughToolkit.setting)
  },
})

type Attempt =
  | { readonly setting: Setting }
  | { readonly setting?: undefined /** Why the toolkit sets no value of this element. */; readonly refusal: Failure }

const setThroughToolkit = async ({ window, target }: ElementTarget, value: string): Promise<Attempt> => {
  try {
    const asked = target.snapshot.setValue(target.index, value, accessibleActionTimeoutMs)
    const written = await orUnknownOutcome(window, target.index, asked)
    return { setting: { ...written, evidence: [] } }
  } catch (error) {
    const refusal = Failure.from(error)
    if (refusal.code !== 'value_not_supported') throw refusal
    return { refusal }
  }
}

const outcomeOf = ({ window, target }: ElementTarget, { route, confirmed, value, evidence }: Setting): Outcome => {
  const reads = value === null ? 'its value cannot be read' : `it reads "${value}"`
  const summary = route === 'none' ? `${nameOf(target)} had that value before.` : `Set the value of ${nameOf(target)}.`
  const read: Evidence = confirmed
    ? { kind: 'value_read_back', detail: value === null ? 'its length was read back' : reads }
    : { kind: 'text_missing', detail: reads }
  return answer(`✅ ${summary}`, { window, target, evidence: [...evidence, read] }, { route, value })
}
