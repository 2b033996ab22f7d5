/** What an action did, by looking: before it, and after it until something confirms it or a short time is over. */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import { evidence as limits } from '@backlot/contract/limits'
import type { Accessibility, AxElement, Delivery, Rect, Window } from '@backlot/native'
import type { Call } from './call.ts'
import type { SeenElement } from './elements.ts'
import type { Outcome } from './tool.ts'

/** Every kind of evidence; only what was seen after the action confirms it. */
const confirms = {
  ax_action: false,
  state_changed: true,
  value_read_back: true,
  text_found: true,
  focus_moved: true,
  window_opened: true,
  window_closed: true,
  pixels_changed: true,
  process_gone: true,
  person_undisturbed: false,
  person_disturbed: false,
} as const

/** One observed fact. */
export interface Evidence {
  readonly kind: keyof typeof confirms
  readonly detail: string
}

/** Where an action's effect may show. */
export interface Scene {
  readonly window: Window
  /** The element acted on, as read before the action. */
  readonly target?: SeenElement | undefined
  /** Text that should appear in the element's value. */
  readonly text?: string
  /** Where in the window to look for changed pixels, in window pixels. */
  readonly place?: Rect
}

interface Look {
  readonly element: AxElement | 'gone' | undefined
  readonly windows: readonly Window[]
  readonly place: string | undefined
  readonly whole: string | undefined
  /** Events that the application has sent so far; `undefined` when it is not accessible. */
  readonly events: number | undefined
}

/** Runs an action between two looks at its scene; what the action itself found out stands first in the evidence. */
export const watch = async (call: Call, scene: Scene, act: () => Promise<readonly Evidence[]>): Promise<Evidence[]> => {
  const eyes = await openEyes(call, scene)
  const before = await eyes.look()
  const told = await act()
  if (told.some(isConfirming)) return [...told]
  const deadline = performance.now() + limits.ceilingMs
  for (;;) {
    const after = await eyes.look()
    const seen = witnesses.flatMap((witness) => witness(before, after, scene) ?? [])
    const remaining = deadline - performance.now()
    if (seen.length > 0 || remaining <= 0 || call.signal.aborted) return [...told, ...seen]
    await eyes.nextEvent(after.events, Math.min(remaining, limits.lookEveryMs))
  }
}

const isConfirming = ({ kind }: Evidence): boolean => confirms[kind]

/** The result of an action: its summary, whether its effect was seen, and by what. */
export const acted = (
  summary: string,
  evidence: readonly Evidence[],
  facts: Readonly<Record<string, unknown>>,
): Outcome => {
  const seen = evidence.filter(isConfirming)
  const effect = seen.length > 0 ? 'confirmed' : 'unverified'
  const how =
    effect === 'confirmed'
      ? `Confirmed: ${seen.map(({ detail }) => detail).join('; ')}.`
      : 'Unverified: no effect was seen; call get_window_state to look.'
  const disturbed = evidence.filter(({ kind }) => kind === 'person_disturbed').map(({ detail }) => ` Note: ${detail}.`)
  return { text: `${summary} ${how}${disturbed.join('')}`, structured: { ...facts, effect, evidence } }
}

/** What a delivery through the agent's own devices says about the person's. */
export const personAfter = (delivery: Delivery): Evidence => {
  const changed = Object.entries({
    pointer: delivery.pointer_kept,
    'keyboard focus': delivery.focus_kept,
    'active window': delivery.active_window_kept,
    'window stacking': delivery.stacking_kept,
  }).flatMap(([what, kept]) => (kept ? [] : [what]))
  return changed.length === 0
    ? { kind: 'person_undisturbed', detail: "the person's pointer, focus, active window and stacking stayed" }
    : { kind: 'person_disturbed', detail: `the person's ${changed.join(', ')} changed` }
}

type Witness = (before: Look, after: Look, scene: Scene) => Evidence | Evidence[] | undefined

const witnesses: readonly Witness[] = [
  (before, after, { text }) => {
    const [was, is] = [before.element, after.element]
    if (was === undefined || is === undefined || was === 'gone') return undefined
    if (is === 'gone') return { kind: 'state_changed', detail: 'the element is gone' }
    if (text !== undefined && occurrences(is.value, text) > occurrences(was.value, text)) {
      return { kind: 'text_found', detail: 'the text stands in the element' }
    }
    return elementChanges(was, is)
  },
  (before, after) => {
    const [was, is] = [idsOf(before.windows), idsOf(after.windows)]
    const opened = after.windows.filter(({ window_id }) => !was.has(window_id))
    const closed = before.windows.filter(({ window_id }) => !is.has(window_id))
    return [
      ...opened.map((window): Evidence => ({ kind: 'window_opened', detail: `${windowName(window)} opened` })),
      ...closed.map((window): Evidence => ({ kind: 'window_closed', detail: `${windowName(window)} closed` })),
    ]
  },
  (before, after) =>
    differs(before.place, after.place)
      ? { kind: 'pixels_changed', detail: 'the pixels at the place changed' }
      : undefined,
  // Elsewhere in the window something may blink by itself; an event of the application ties the change to it.
  (before, after) =>
    differs(before.whole, after.whole) && (before.events === undefined || before.events !== after.events)
      ? { kind: 'pixels_changed', detail: 'the pixels of the window changed' }
      : undefined,
]

const differs = (was: string | undefined, is: string | undefined): boolean =>
  was !== undefined && is !== undefined && was !== is

const idsOf = (windows: readonly Window[]): ReadonlySet<number> => new Set(windows.map(({ window_id }) => window_id))

const windowName = ({ kind, window_id, title }: Window): string =>
  `${kind === 'normal' ? 'window' : kind} ${window_id}${title === '' ? '' : ` "${title}"`}`

const occurrences = (value: string | null | undefined, text: string): number => (value ?? '').split(text).length - 1

const elementChanges = (was: AxElement, is: AxElement): Evidence[] => {
  const appeared = is.states.filter((state) => !was.states.includes(state))
  const vanished = was.states.filter((state) => !is.states.includes(state))
  const states = [...appeared.map((state) => `is ${state}`), ...vanished.map((state) => `is not ${state}`)]
  const focus = appeared.includes('focused')
  return [
    ...(focus ? [{ kind: 'focus_moved', detail: 'the element took the focus' } as const] : []),
    ...(states.length > (focus ? 1 : 0)
      ? [
          {
            kind: 'state_changed',
            detail: `the element now ${states.filter((state) => state !== 'is focused').join(', ')}`,
          } as const,
        ]
      : []),
    ...(was.value !== is.value || was.label !== is.label
      ? [{ kind: 'state_changed', detail: `the element now reads "${short(is.value ?? is.label)}"` } as const]
      : []),
  ]
}

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text)

/** What can be looked at: whatever is not to be had sees nothing. */
const openEyes = async (call: Call, { window, target, place }: Scene) => {
  const { pid, window_id } = window
  const [desktop, capturer, accessibility] = await Promise.all([
    call.driver.desktop(),
    call.driver.capturer().catch(() => undefined),
    call.driver.accessibility().catch((): Accessibility | undefined => undefined),
  ])
  const isAccessible = accessibility !== undefined && (await hasApplication(accessibility, pid))
  const digest = (region: Rect | null) => capturer?.digest(window_id, region).catch(() => undefined)
  const region = place && clip(place, window)
  return {
    async look(): Promise<Look> {
      const events = isAccessible ? accessibility.generation(pid) : undefined
      const [element, windows, at, whole] = await Promise.all([
        target?.snapshot.read(target.index).catch(goneOrUnseen),
        desktop.windows(),
        region && digest(region),
        digest(null),
      ])
      return { element, windows: windows.filter((each) => each.pid === pid), place: at, whole, events }
    },
    async nextEvent(since: number | undefined, timeoutMs: number): Promise<void> {
      if (accessibility === undefined || since === undefined) await pause(timeoutMs)
      else await accessibility.waitForEvent(pid, since, Math.ceil(timeoutMs))
    },
  }
}

/** The part of a place that lies in the window; `undefined` when none does. */
const clip = (place: Rect, { width, height }: Window): Rect | undefined => {
  const [x, y] = [Math.max(0, place.x), Math.max(0, place.y)]
  const [right, bottom] = [Math.min(width, place.x + place.width), Math.min(height, place.y + place.height)]
  return right > x && bottom > y ? { x, y, width: right - x, height: bottom - y } : undefined
}

const hasApplication = async (accessibility: Accessibility, pid: number): Promise<boolean> =>
  (await accessibility.applications().catch(() => [])).some((application) => application.pid === pid)

const goneOrUnseen = (error: unknown): 'gone' | undefined =>
  Failure.from(error).code === 'stale_element' ? 'gone' : undefined
