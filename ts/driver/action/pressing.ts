/** Keys into a window: how every tool that presses some does it. */
import type { Window } from '@backlot/native'
import type { Call } from '../context.ts'
import type { IndexedElement } from '../observation/elements.ts'
import type { Outcome } from '../tool/tool.ts'
import { type Action, act, answer, deliver } from './act.ts'
import type { ActionContext } from './evidence.ts'
import { focusedElement, focusForKeys } from './focus.ts'
import { elementOf, windowOrFrontmost } from './target.ts'
import { isPassword, isPaste, keepSecret } from './typing.ts'

/** A key, what is held around it, and how often it is pressed. */
export interface KeyPress {
  readonly key: string
  readonly modifiers: readonly string[]
  readonly count?: number
}

type KeyTarget = { readonly pid: number; readonly window_id?: number; readonly element_index?: number }

/** Presses a key in the window or the element that the arguments name, and looks what came of it. */
export const press = async (
  call: Call,
  where: KeyTarget,
  { key, modifiers, count = 1 }: KeyPress,
): Promise<Action & Pick<ActionContext, 'window'>> => {
  const found = await elementOf(call, where)
  const window = found?.window ?? (await windowOrFrontmost(call, where.pid, where.window_id))
  const { window_id } = window
  if (isPaste(key, modifiers)) await keepPasted(call, window, found?.target)
  const focus = found && (await focusForKeys(call, found))
  const request = { window_id, key, modifiers: [...modifiers], count, ...(focus?.at && { at: focus.at }) }
  const { target, evidence: focusEvidence = [] } = focus ?? {}
  const context = { window, target, hasPendingEvents: focusEvidence.length > 0 }
  const { evidence } = await act(call, context, () => deliver(call, (agent) => agent.pressKey(request)))
  return { window, target, evidence: [...focusEvidence, ...evidence] }
}

/** What is pasted into a password field is a secret as what is typed there. */
const keepPasted = async (call: Call, window: Window, named: IndexedElement | undefined): Promise<void> => {
  const desktop = await call.driver.desktop()
  // What cannot be read is pasted all the same.
  const clip = await desktop.clipboardRead().catch(() => undefined)
  if (!clip?.text) return
  const target = named ?? (await focusedElement({ ...call, types: [clip.text] }, window))
  if (target && isPassword(target.element)) keepSecret(call, [clip.text])
}

/** The whole result of pressing a key once. */
export const pressOnce = async (call: Call, where: KeyTarget, combination: KeyPress): Promise<Outcome> => {
  const pressed = await press(call, where, combination)
  const { key, modifiers } = combination
  return answer(`✅ Pressed ${[...modifiers, key].join('+')} in window ${pressed.window.window_id}.`, pressed, {
    key,
    ...(modifiers.length > 0 && { modifiers }),
    route: 'agent_keyboard',
  })
}
