/** What an action did, by looking: before it, and after it until something confirms it or a short time is over. */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import { evidence as limits } from '@backlot/contract/limits'
import type { Accessibility, AxElement, Delivery, Rect, Window } from '@backlot/native'
import type { Call } from './context.ts'
import type { SeenElement } from './elements.ts'
import { reasonOf } from './ending.ts'
import type { Outcome } from './tool.ts'
import { noteScene } from './traces.ts'
import { compareLooks, type Evidence, isConfirming, type Look, type Scene, Stay } from './witnesses.ts'

/** Runs an action between two looks at its scene; what the action itself found out stands first in the evidence. */
export const watch = async (call: Call, scene: Scene, act: () => Promise<readonly Evidence[]>): Promise<Evidence[]> => {
  const { evidence_timeout_ms } = await call.config()
  await call.driver.cursors.arrive(call.owner, scene)
  const eyes = await openEyes(call, scene)
  const before = await eyes.first()
  // The looks may have taken long: what the caller gave up meanwhile, or the person halted, is not done.
  if (call.signal.aborted) throw reasonOf(call.signal)
  const told = await act()
  call.driver.cursors.acted(call.owner, scene)
  if (told.some(isConfirming)) return [...told]
  // What a window shows that believes to have the focus is no effect of the action.
  const watched = told.some(({ kind }) => kind === 'focus_feigned') ? { ...scene, seemsFocused: true } : scene
  const deadline = performance.now() + evidence_timeout_ms
  let wait: number = limits.lookEveryMs
  const stay = new Stay()
  for (;;) {
    const after = await eyes.look()
    stay.see(after, performance.now())
    const seen = compareLooks(before, after, watched, stay)
    const remaining = deadline - performance.now()
    if (seen.some(isConfirming) || remaining <= 0 || call.signal.aborted) return [...told, ...seen]
    await eyes.nextEvent(after.events, Math.min(remaining, wait))
    // What has not come at once comes late: fewer looks leave the processor to the application.
    wait *= limits.slowing
  }
}

/** The result of an action: its summary, whether its effect was seen, and by what. */
export const acted = (
  summary: string,
  evidence: readonly Evidence[],
  facts: Readonly<Record<string, unknown>>,
): Outcome => {
  const seen = evidence.filter(isConfirming)
  const missing = evidence.find(({ kind }) => kind === 'text_missing')
  const effect = seen.length > 0 ? 'confirmed' : 'unverified'
  const how =
    effect === 'confirmed'
      ? `Confirmed: ${seen.map(({ detail }) => detail).join('; ')}.`
      : `Unverified: ${missing?.detail ?? 'no effect was seen'}; call get_window_state to look.`
  const disturbed = evidence.filter(({ kind }) => kind === 'person_disturbed').map(({ detail }) => ` Note: ${detail}.`)
  return { text: `${summary} ${how}${disturbed.join('')}`, structured: { ...facts, effect, evidence } }
}

/** What a delivery through the agent's own devices says about the person's, and what it told the application. */
export const afterGesture = (delivery: Delivery): Evidence[] => {
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

/** What can be looked at: whatever is not to be had sees nothing. */
const openEyes = async (call: Call, scene: Scene) => {
  const { window, place, point } = scene
  const { pid, window_id } = window
  const { seen } = call.driver
  const [desktop, capturer, accessibility] = await Promise.all([
    call.driver.desktop(),
    call.driver.capturer().catch(() => undefined),
    call.driver.accessibility().catch((): Accessibility | undefined => undefined),
  ])
  const map = seen.snapshot(pid, window_id)
  // What a click meets is known by where it goes.
  const target = scene.target ?? (point && elementAt(map, point))
  noteScene(call, { window, target, point })
  const isAccessible = accessibility !== undefined && (map !== undefined || accessibility.generation(pid) > 0)
  const region = place && clip(place, window)
  const lookWith = async (element: Promise<AxElement> | undefined): Promise<Look> => {
    const events = isAccessible ? accessibility.generation(pid) : undefined
    const told = isAccessible ? accessibility.told(pid) : undefined
    const quietMs = isAccessible ? accessibility.quietFor(pid) : undefined
    const [read, windows, at, whole] = await Promise.all([
      element?.catch(goneOrUnseen),
      desktop.windows(),
      region && capturer?.digest(window_id, region).catch(() => undefined),
      capturer?.glance(window_id).catch(() => undefined),
    ])
    return {
      element: read,
      windows: windows.filter((each) => each.pid === pid),
      place: at,
      whole: whole?.digest,
      calmMs: whole?.calm_ms,
      events,
      told,
      quietMs,
    }
  }
  const reading = () => target?.snapshot.read(target.index)
  return {
    async first(): Promise<Look> {
      // The element that was named was read when the action's arguments were checked.
      const known = scene.target && Promise.resolve(scene.target.element)
      const [look, active] = await Promise.all([lookWith(known ?? reading()), desktop.activeWindow()])
      const blinks = active === window_id && isAccessible && mayHoldCaret(map)
      return { ...look, isStill: (look.calmMs ?? 0) >= limits.calmMs && !blinks }
    },
    look: () => lookWith(reading()),
    async nextEvent(since: number | undefined, timeoutMs: number): Promise<void> {
      if (accessibility === undefined || since === undefined) await pause(timeoutMs)
      else await accessibility.waitForEvent(pid, since, Math.ceil(timeoutMs))
    },
  }
}

type Map = ReturnType<Call['driver']['seen']['snapshot']>

/** The innermost element of a snapshot at a point of its window. */
const elementAt = (map: Map, { x, y }: { readonly x: number; readonly y: number }): SeenElement | undefined => {
  const index = map?.at(x, y) ?? undefined
  const element = index === undefined ? undefined : map?.element(index)
  return map === undefined || index === undefined || !element ? undefined : { index, snapshot: map, element }
}

/** True unless the element that has the focus takes no text: a caret blinks in the person's active window. */
const mayHoldCaret = (map: Map): boolean => {
  const focused = map?.focused() ?? undefined
  return focused === undefined || map?.element(focused)?.editable !== false
}

/** The part of a place that lies in the window; `undefined` when none does. */
const clip = (place: Rect, { width, height }: Window): Rect | undefined => {
  const [x, y] = [Math.max(0, place.x), Math.max(0, place.y)]
  const [right, bottom] = [Math.min(width, place.x + place.width), Math.min(height, place.y + place.height)]
  return right > x && bottom > y ? { x, y, width: right - x, height: bottom - y } : undefined
}

const goneOrUnseen = (error: unknown): 'gone' | undefined =>
  Failure.from(error).code === 'stale_element' ? 'gone' : undefined
