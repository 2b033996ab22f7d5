/** How every tool acts: a gesture or a request, what is seen before and after it, and the answer that tells of it. */
import { evidence as limits } from '@backlot/contract/limits'
import type { Agent, Delivery, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import { reasonOf } from '../ending.ts'
import type { SeenElement } from '../observation/elements.ts'
import type { Outcome } from '../tool/tool.ts'
import { Handled } from './handled.ts'
import { noteInnerFocus } from './inner-focus.ts'
import { openEyes } from './looks.ts'
import { compareLooks, type Evidence, isConfirming, type Scene, Stay } from './witnesses.ts'

/** What was acted on, and what was seen of it. */
export interface Action {
  readonly window?: Window
  /** The element, where the answer names it. */
  readonly target?: SeenElement | undefined
  readonly evidence: readonly Evidence[]
}

/** Does a piece of work in a scene and looks what comes of it; what the work itself found out stands first in the evidence. */
export const act = async (call: Call, scene: Scene, work: () => Promise<readonly Evidence[]>): Promise<Action> => ({
  window: scene.window,
  target: scene.target,
  evidence: await watch(call, scene, work),
})

/**
 * Runs an action between two looks at its scene; what the action itself found out stands first in the evidence. Looking
 * ends with what confirms the action, when the application has handled it and rests, or after the configured time; what
 * comes later of an action that nothing confirmed is followed.
 */
const watch = async (
  call: Call,
  scene: Scene,
  work: () => Promise<readonly Evidence[]>,
): Promise<readonly Evidence[]> => {
  const { evidence_timeout_ms } = await call.config()
  const { cursors, late } = call.driver
  await cursors.arrive(call.owner, scene)
  const eyes = await openEyes(call, scene)
  let before = await eyes.first()
  const earlier = await late.lookLast(call)
  // What came late meanwhile is no effect of this action.
  if (earlier.isFound) before = await eyes.first()
  // The looks may have taken long: what the caller gave up meanwhile, or the person halted, is not done.
  if (call.signal.aborted) throw reasonOf(call.signal)
  if (!scene.keepsFocus) await noteInnerFocus(call, scene.window)
  const told = await work()
  cursors.acted(call.owner, scene)
  if (told.some(isConfirming)) {
    late.explain(scene.window.pid, before, before)
    return told
  }
  // What a window shows that believes to have the focus is no effect of the action.
  const feigned = told.some(({ kind }) => kind === 'focus_feigned') && { seemsFocused: true }
  const watched = { ...scene, ...feigned, mayBeLate: earlier.open }
  const deadline = performance.now() + evidence_timeout_ms
  const handled = new Handled(call, scene, before, eyes, evidence_timeout_ms)
  let wait: number = limits.lookEveryMs
  const stay = new Stay()
  for (;;) {
    const after = await eyes.look()
    const now = performance.now()
    stay.see(after, now)
    const seen = compareLooks(before, after, watched, stay)
    const isConfirmed = seen.some(isConfirming)
    const remaining = deadline - now
    const restsIn = isConfirmed ? 0 : handled.restsIn(after, stay, now)
    if (isConfirmed || restsIn <= 0 || remaining <= 0 || call.signal.aborted) {
      if (isConfirmed) late.explain(scene.window.pid, before, after)
      else late.note(call, { scene: watched, eyes, before, last: after })
      late.tellOthers(call, earlier.open, scene.window, seen)
      return [...told, ...seen]
    }
    await eyes.nextEvent(after.events, Math.min(remaining, wait, restsIn))
    // What has not come at once comes late: fewer looks leave the processor to the application.
    wait *= limits.slowing
  }
}

/** The answer of an action: what it was done to, the tool's own fields, whether its effect was seen, and by what. */
export const answer = (
  summary: string,
  { window, target, evidence }: Action,
  fields: Readonly<Record<string, unknown>>,
): Outcome => {
  const seen = evidence.filter(isConfirming)
  const doubt = evidence.find(({ kind }) => kind === 'text_missing' || kind === 'perhaps_late')
  const effect = seen.length > 0 ? 'confirmed' : 'unverified'
  const how =
    effect === 'confirmed'
      ? `Confirmed: ${seen.map(({ detail }) => detail).join('; ')}.`
      : `Unverified: ${doubt?.detail ?? 'no effect was seen'}; call get_window_state to look.`
  const disturbed = evidence.filter(({ kind }) => kind === 'person_disturbed').map(({ detail }) => ` Note: ${detail}.`)
  return {
    text: `${summary} ${how}${disturbed.join('')}`,
    structured: {
      ...(window && { pid: window.pid, window_id: window.window_id }),
      ...(target && { element_index: target.index }),
      ...fields,
      effect,
      evidence,
    },
  }
}

/** Does a gesture with the agent's own devices: what it left of the person's as it was, and what it told the application. */
export const deliver = async (call: Call, gesture: (agent: Agent) => Promise<Delivery>): Promise<Evidence[]> => {
  const delivery = await call.gesture(gesture)
  const changed = Object.entries({
    pointer: delivery.pointer_kept,
    'keyboard focus': delivery.focus_kept,
    'active window': delivery.active_window_kept,
    'window stacking': delivery.stacking_kept,
  }).flatMap(([what, kept]) => (kept ? [] : [what]))
  const person: Evidence =
    changed.length === 0
      ? { kind: 'person_undisturbed', detail: "the person's pointer, focus, active window and stacking stayed" }
      : { kind: 'person_disturbed', detail: `the person's ${changed.join(', ')} changed` }
  const feigned: Evidence = { kind: 'focus_feigned', detail: 'the window was told for a moment that it has the focus' }
  return delivery.focus_feigned ? [person, feigned] : [person]
}
