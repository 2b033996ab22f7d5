/** How every tool acts: a gesture or a request, what is seen before and after it, and the answer that tells of it. */
import { evidence as limits } from '@backlot/contract/limits'
import type { Agent, Delivery, Point, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import { reasonOf } from '../ending.ts'
import type { IndexedElement } from '../observation/elements.ts'
import type { Outcome } from '../tool/tool.ts'
import { type ActionContext, compareObservations, type Evidence, isConfirming, PixelStability } from './evidence.ts'
import { noteFocusedElement } from './focused-element.ts'
import { HandlingProof } from './handling-proof.ts'
import { observerOf } from './observer.ts'

/** What was acted on, and what was seen of it. */
export interface Action {
  readonly window?: Window
  /** The element, where the answer names it. */
  readonly target?: IndexedElement | undefined
  readonly evidence: readonly Evidence[]
}

/** Does a piece of work in a context and observes its effect; what the work itself found out stands first in the evidence. */
export const act = async (
  call: Call,
  context: ActionContext,
  work: () => Promise<readonly Evidence[]>,
): Promise<Action> => ({
  window: context.window,
  target: context.target,
  evidence: await evidenceOf(call, context, work),
})

/**
 * Observes the context before the work, and after it until something confirms the action, the application has handled it and
 * does nothing more, or the configured time is over. An action that nothing confirmed is followed for its late effects.
 */
const evidenceOf = async (
  call: Call,
  context: ActionContext,
  work: () => Promise<readonly Evidence[]>,
): Promise<readonly Evidence[]> => {
  const { evidence_timeout_ms } = await call.config()
  const { cursors, lateEffects } = call.driver
  await cursors.goTo(call.owner, context)
  const observer = await observerOf(call, context)
  let before = await observer.observeBefore()
  const earlier = await lateEffects.observeLast(call)
  // What came late meanwhile is no effect of this action.
  if (earlier.isFound) before = await observer.observeBefore()
  // The observations may have taken long: what the caller gave up meanwhile, or the person halted, is not done.
  if (call.signal.aborted) throw reasonOf(call.signal)
  if (!context.keepsFocus) await noteFocusedElement(call, context.window)
  const reported = await work()
  cursors.showAction(call.owner, context)
  if (reported.some(isConfirming)) {
    lateEffects.attribute(context.window.pid, before, before)
    return reported
  }
  // What a window shows that believes to have the focus is no effect of the action.
  const feigned = reported.some(({ kind }) => kind === 'focus_feigned') && { isFocusFeigned: true }
  const watched = { ...context, ...feigned, pendingActions: earlier.open }
  const deadline = performance.now() + evidence_timeout_ms
  const handling = new HandlingProof(call, context, before, observer, evidence_timeout_ms)
  let wait: number = limits.pollIntervalMs
  const stability = new PixelStability()
  for (;;) {
    const after = await observer.observe()
    const now = performance.now()
    stability.add(after, now)
    const seen = compareObservations(before, after, watched, stability)
    const isConfirmed = seen.some(isConfirming)
    const remaining = deadline - now
    const settledInMs = isConfirmed ? 0 : handling.msUntilSettled(after, stability, now)
    if (isConfirmed || settledInMs <= 0 || remaining <= 0 || call.signal.aborted) {
      if (isConfirmed) lateEffects.attribute(context.window.pid, before, after)
      else lateEffects.noteCandidate(call, { context: watched, observer, before, last: after })
      lateEffects.tellOthers(call, earlier.open, context.window, seen)
      return [...reported, ...seen]
    }
    await observer.nextEvent(after.allEvents, Math.min(remaining, wait, settledInMs))
    // What has not come at once comes late: fewer observations leave the processor to the application.
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

/** Clicks once with the left button of the agent's own pointer. */
export const deliverClick = (call: Call, { window_id }: Window, point: Point): Promise<Evidence[]> =>
  deliver(call, (agent) => agent.click({ window_id, ...point, button: 'left', count: 1, modifiers: [] }))
