/** What counts as evidence of an action: each comparison is of one aspect of two observations of the same context. */
import { evidence as limits } from '@backlot/contract/limits'
import type { AxElement, Point, Rect, Window } from '@backlot/native'
import type { IndexedElement } from '../observation/elements.ts'
import { isSpliced } from '../observation/spliced.ts'
import type { Session } from '../session/sessions.ts'

/** Every kind of evidence; only what was seen after the action confirms it. */
const confirms = {
  ax_action: false,
  state_changed: true,
  value_read_back: true,
  event_received: true,
  text_found: true,
  text_missing: false,
  perhaps_late: false,
  focus_moved: true,
  focus_given: false,
  focus_feigned: false,
  window_opened: true,
  window_closed: true,
  application_reacted: true,
  pixels_changed: true,
  process_gone: true,
  window_in_front: true,
  window_placed: true,
  person_undisturbed: false,
  person_disturbed: false,
} as const

/** One observed fact. */
export interface Evidence {
  readonly kind: keyof typeof confirms
  readonly detail: string
}

/** Where an action's effect may show. */
export interface ActionContext {
  readonly window: Window
  /** The element acted on, as read before the action. */
  readonly target?: IndexedElement | undefined
  /** Text that should appear in the element's value. */
  readonly text?: string
  /** Where changed pixels count, in window pixels. */
  readonly place?: Rect
  /** Where the pointer presses: what lies there is read before and after. */
  readonly point?: Point
  /** Where something else than the pointer presses: the cursor glides there as well. */
  readonly cursorPoint?: Point
  /** Where a gesture ends that begins at the point. */
  readonly dragEnd?: Point
  /**
   * The place in the window of a control that is pressed. It looks pressed for a moment, says so, and may take the focus,
   * whether or not the application does anything: that is no effect.
   */
  readonly pressed?: Rect | undefined
  /** Nothing of the action moves the focus within the window. */
  readonly keepsFocus?: boolean
  /** The application was just made to do something else, whose events may still come. */
  readonly hasPendingEvents?: boolean
  /** The window was told that it has the focus, and may show it anywhere. */
  readonly isFocusFeigned?: boolean
  /** Milliseconds without events before the action, after which events of the application count; absent: a short time. */
  readonly minQuietMs?: number
  /** Earlier actions on the application of which nothing was seen yet: what shows elsewhere than in the element may be theirs. */
  readonly pendingActions?: readonly PastAction[]
}

/** An action that was done. */
export interface PastAction {
  readonly owner: Session
  readonly tool: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** `click at 12:01:07.2`, by UTC. */
export const nameOfAction = (tool: string, at: number): string =>
  `${tool} at ${new Date(at).toISOString().slice(11, 21)}`

/** A context at one moment; `undefined` stands for what cannot be read. */
export interface Observation {
  readonly element: AxElement | 'gone' | undefined
  /** The windows of the process. */
  readonly windows: readonly Window[]
  /** Digest of the pixels at the context's place, and of the whole window but for the control that is pressed. */
  readonly place: string | undefined
  readonly whole: string | undefined
  /** Milliseconds in which nothing was drawn in the window before; `undefined` where nobody tells. */
  readonly sinceDrawnMs?: number | undefined
  /** Events that the application has sent so far; `undefined` when it is not accessible. */
  readonly allEvents: number | undefined
  /** Those of them that tell of a change: not that the focus and the caret are where they were, or a page has loaded. */
  readonly changeEvents: number | undefined
  /** How often it said that something got the focus, and what did so last: its index, null where that is not known. */
  readonly focusEvents?: number | undefined
  readonly lastFocus?: number | null | undefined
  /** Milliseconds since the last of all. */
  readonly sinceEventMs: number | undefined
  /** When it was, by `performance.now`. */
  readonly at?: number
  /** Of the observation before the action: nothing in the window is known to change by itself. */
  readonly isStatic?: boolean
}

/** Observes one context. */
export interface Observer {
  /** The observation before an action. */
  observeBefore(): Promise<Observation>
  /** A later one. */
  observe(): Promise<Observation>
  /** Waits until all events that the application has sent by now are received: the queue of a busy bus may hold them. */
  eventsReceived(): Promise<void>
  /** Waits for the next event of the application after the one of that number, for at most so long. */
  nextEvent(since: number | undefined, timeoutMs: number): Promise<void>
}

/** True for evidence that was seen after the action, and so confirms it. */
export const isConfirming = ({ kind }: Evidence): boolean => confirms[kind]

/** For how long, by observations one after the other, the pixels have been the same. */
export class PixelStability {
  readonly #since: Record<'place' | 'whole', { digest: string | undefined; at: number }> = {
    place: { digest: undefined, at: 0 },
    whole: { digest: undefined, at: 0 },
  }
  #now = 0

  /** Adds an observation; `now` is in milliseconds. */
  add(observation: Observation, now: number): void {
    this.#now = now
    for (const part of ['place', 'whole'] as const) {
      if (this.#since[part].digest !== observation[part]) this.#since[part] = { digest: observation[part], at: now }
    }
  }

  /** True when the pixels of the last observation have been the same for long enough to be no animation. */
  isStable(part: 'place' | 'whole'): boolean {
    return this.#now - this.#since[part].at >= limits.stableMs
  }
}

/**
 * What the second observation shows that the first did not; `stability` knows for how long its pixels have been so. Where text
 * was meant for an element that can be read, only that text counts: anything else that changed may be a part of it.
 */
export const compareObservations = (
  before: Observation,
  after: Observation,
  context: ActionContext,
  stability: Stability,
): Evidence[] => {
  const typed = context.text === undefined ? undefined : textEvidence(before, after, context.text)
  if (typed !== undefined) return [typed]
  const byElement = elementEvidence(before, after, context) ?? []
  const elsewhere = comparisons.flatMap((compare) => compare(before, after, { stability, context }) ?? [])
  const { pendingActions = [] } = context
  const isDoubtful = pendingActions.length > 0
  return [byElement, isDoubtful ? elsewhere.map((each) => perhapsLate(each, pendingActions)) : elsewhere].flat()
}

const perhapsLate = ({ detail }: Evidence, earlier: readonly PastAction[]): Evidence => ({
  kind: 'perhaps_late',
  detail: `${detail}, which may come late of ${earlier.map(({ tool, at }) => nameOfAction(tool, at)).join(' or ')}`,
})

const textEvidence = (
  { element: was }: Observation,
  { element: is }: Observation,
  text: string,
): Evidence | undefined => {
  if (typeof was !== 'object' || typeof is !== 'object' || was.value === null || is.value === null) return undefined
  return isSpliced(was.value, is.value, text)
    ? { kind: 'text_found', detail: 'the text stands in the element' }
    : { kind: 'text_missing', detail: `the element reads "${short(is.value)}"` }
}

/** Whether the pixels of the last observation have been the same for long enough. */
export type Stability = Pick<PixelStability, 'isStable'>

/** What a comparison may use beside the two observations. */
interface Circumstances {
  readonly stability: Stability
  readonly context: ActionContext
}

/** Facts that two observations of a context differ in; several, one, or none. */
type Comparison = (
  before: Observation,
  after: Observation,
  circumstances: Circumstances,
) => Evidence | Evidence[] | undefined

const elementEvidence = (
  before: Observation,
  after: Observation,
  context: ActionContext,
): Evidence | Evidence[] | undefined => {
  const [was, is] = [before.element, after.element]
  if (was === undefined || is === undefined || was === 'gone') return undefined
  if (is === 'gone') return { kind: 'state_changed', detail: 'the element is gone' }
  return elementChanges(was, is, context)
}

const comparisons: readonly Comparison[] = [
  (before, after) => {
    const [was, is] = [idsOf(before.windows), idsOf(after.windows)]
    const opened = after.windows.filter(({ window_id }) => !was.has(window_id))
    const closed = before.windows.filter(({ window_id }) => !is.has(window_id))
    const renamed = after.windows.filter((now) => before.windows.some((then) => isRenamed(then, now)))
    return [
      ...opened.map((window): Evidence => ({ kind: 'window_opened', detail: `${windowName(window)} opened` })),
      ...closed.map((window): Evidence => ({ kind: 'window_closed', detail: `${windowName(window)} closed` })),
      ...renamed.map(
        (window): Evidence => ({ kind: 'state_changed', detail: `${windowName(window)} has a new title` }),
      ),
    ]
  },
  (before, after, { context }) => {
    if (before.changeEvents === undefined || after.changeEvents === undefined) return undefined
    if (context.hasPendingEvents || context.isFocusFeigned) return undefined
    const came = after.changeEvents - before.changeEvents - (context.pressed ? focusMovesIn(before, after) : 0)
    // An application that speaks by itself may have said the same without the action.
    return came > 0 && (before.sinceEventMs ?? 0) >= (context.minQuietMs ?? limits.minQuietMs)
      ? { kind: 'application_reacted', detail: `the application, silent before, told of ${came} change(s)` }
      : undefined
  },
  (before, after, { stability, context }) => {
    // A highlight that fades, or a caret, is no effect: the pixels must have been still and be so again.
    if (!before.isStatic) return undefined
    if (context.pressed === undefined && differs(before.place, after.place) && stability.isStable('place')) {
      return { kind: 'pixels_changed', detail: 'the pixels at the place changed and stay so' }
    }
    // The mark of the focus leaves one place for another.
    if (context.isFocusFeigned || givesFocus(before, after, context)) return undefined
    return differs(before.whole, after.whole) && stability.isStable('whole')
      ? { kind: 'pixels_changed', detail: 'the pixels of the window changed and stay so' }
      : undefined
  },
]

/** True when the press of a control has moved the focus, which the toolkit does. */
const givesFocus = (before: Observation, after: Observation, { pressed }: ActionContext): boolean =>
  pressed !== undefined && (focusMovesIn(before, after) > 0 || (isFocused(after) && !isFocused(before)))

/** How many change events said that the focus moved: to where it was, or for the first time, is none. */
const focusMovesIn = (before: Observation, after: Observation): number => {
  const [had, has] = [before.focusEvents ?? 0, after.focusEvents ?? 0]
  const isBack = typeof after.lastFocus === 'number' && after.lastFocus === before.lastFocus
  return isBack || has <= had ? 0 : has - Math.max(had, 1)
}

const isFocused = ({ element }: Observation): boolean =>
  typeof element === 'object' && element.states.includes('focused')

/** True while a control that is pressed says so. */
export const isNewlyPressed = ({ element: was }: Observation, { element: is }: Observation): boolean =>
  isPressed(is) && !isPressed(was)

const isPressed = (element: Observation['element']): boolean =>
  typeof element === 'object' && element.states.includes('pressed')

/** True for what does something when it is pressed, and takes no text: a press is there to give the focus to a field. */
export const isControl = ({ editable, actions }: AxElement): boolean => !editable && actions.length > 0

const differs = (was: string | undefined, is: string | undefined): boolean =>
  was !== undefined && is !== undefined && was !== is

const idsOf = (windows: readonly Window[]): ReadonlySet<number> => new Set(windows.map(({ window_id }) => window_id))

const isRenamed = (then: Window, now: Window): boolean => then.window_id === now.window_id && then.title !== now.title

const windowName = ({ kind, window_id, title }: Window): string =>
  `${kind === 'normal' ? 'window' : kind} ${window_id}${title === '' ? '' : ` "${title}"`}`

const elementChanges = (was: AxElement, is: AxElement, { isFocusFeigned, pressed }: ActionContext): Evidence[] => {
  // A switch that stays pressed has another value.
  const counts = (state: string): boolean => pressed === undefined || (state !== 'pressed' && state !== 'focused')
  const appeared = is.states.filter((state) => !was.states.includes(state) && counts(state))
  const vanished = was.states.filter((state) => !is.states.includes(state) && counts(state))
  const states = [
    ...appeared.filter((state) => state !== 'focused').map((state) => `is ${state}`),
    ...vanished.map((state) => `is not ${state}`),
  ]
  if (was.value !== is.value || was.label !== is.label) states.push(`reads "${short(is.value ?? is.label)}"`)
  const facts: Evidence[] = []
  if (appeared.includes('focused') && !isFocusFeigned)
    facts.push({ kind: 'focus_moved', detail: 'the element took the focus' })
  if (states.length > 0) facts.push({ kind: 'state_changed', detail: `the element now ${states.join(', ')}` })
  return facts
}

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text)
