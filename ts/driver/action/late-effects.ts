/** Effects that show after an action was answered: they stand in the next answer of the session that acted. */
import { setTimeout as pause } from 'node:timers/promises'
import { late as limits, evidence as pace } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import type { Session } from '../session/sessions.ts'
import {
  type ActionContext,
  compareObservations,
  type Evidence,
  isConfirming,
  nameOfAction,
  type Observation,
  type Observer,
  type PastAction,
  PixelStability,
} from './evidence.ts'
import { QuietTimes } from './quiet-times.ts'

/** What was seen of an action after its answer. */
export interface LateFact {
  /** The tool that acted. */
  readonly after: string
  /** When it was answered, ISO 8601. */
  readonly at: string
  readonly pid: number
  readonly window_id: number
  readonly detail: string
  /** Other actions on the application that it may come of as well, and whether they were another session's. */
  readonly or?: readonly { readonly after: string; readonly at: string; readonly of_another_session: boolean }[]
}

/** A call that may act. */
export interface ActingCall {
  readonly owner: Session
  /** What only this call knows to be a secret. */
  readonly short: { maskedIn(text: string): string }
  readonly notes: LateNotes
}

/** What is noted of a call for what comes late. */
export interface LateNotes {
  /** Actions on the same application that were followed when the call began. */
  earlier?: readonly Followed[]
  /** Where the call's own action may show yet. */
  candidate?: Candidate
}

/** What a call answers. */
interface Answer {
  readonly text: string
  readonly structured: Readonly<Record<string, unknown>>
}

/** Where an action of which nothing was seen may show yet. */
interface Candidate {
  readonly context: ActionContext
  readonly observer: Observer
  readonly before: Observation
  /** The observation that the answer was given on. */
  readonly last: Observation
}

/** An action that is followed. */
interface Followed {
  readonly action: PastAction
  readonly context: ActionContext
  readonly observer: Observer
  readonly base: Observation
  readonly before: Observation
  /** When it was answered and until when it is followed, by `performance.now`. */
  readonly since: number
  readonly until: number
  readonly stability: PixelStability
  /** Takes out what only the call that acted knew to be a secret. */
  readonly masked: (text: string) => string
  /** Settled when the observation asked for last is over. */
  observing: Promise<unknown>
  /** Something was seen. */
  isFound: boolean
  isOver: boolean
  /** Calls under way that may act on the application. */
  callsUnderWay: number
}

interface UntoldFacts {
  readonly facts: LateFact[]
  leftOut: number
}

/** Follows actions of all sessions. */
export class LateEffects {
  readonly #followed = new Set<Followed>()
  readonly #untold = new Map<string, UntoldFacts>()
  readonly #quietTimes = new QuietTimes()

  /** A call begins that may act on an application: what is seen of earlier actions while it goes on may be its own. */
  async begin(call: ActingCall, pid: number): Promise<void> {
    const earlier = [...this.#followed].filter(({ context }) => context.window.pid === pid)
    call.notes.earlier = earlier
    await Promise.all(earlier.map((each) => this.#observe(each)))
    for (const each of earlier) each.callsUnderWay += 1
  }

  /**
   * Observes for the last time what came of the earlier actions, right before a call acts: whether something was seen, and
   * which of them are still open.
   */
  async observeLast(call: ActingCall): Promise<{ readonly isFound: boolean; readonly open: readonly PastAction[] }> {
    const { earlier = [] } = call.notes
    const followed = earlier.filter(({ isOver }) => !isOver)
    await Promise.all(followed.map((each) => this.#observe(each, true)))
    for (const each of followed) this.#end(each)
    const actions = earlier.flatMap(({ isFound, action, context }) =>
      isFound ? [] : [action, ...(context.pendingActions ?? [])],
    )
    const oldest = Date.now() - limits.followMs
    return { isFound: followed.some(({ isFound }) => isFound), open: actions.filter(({ at }) => at > oldest) }
  }

  /** The call is over: the earlier actions are followed on unless it acted. */
  release(call: ActingCall, hasActed: boolean): void {
    for (const each of call.notes.earlier ?? []) {
      each.callsUnderWay -= 1
      if (hasActed) this.#end(each)
    }
    delete call.notes.earlier
  }

  /** Notes where the call's action may show yet; the last note counts. */
  noteCandidate(call: ActingCall, candidate: Candidate): void {
    call.notes.candidate = candidate
  }

  /** The call is done: its action is followed if nothing was seen of it. */
  follow(call: ActingCall, tool: string, { structured }: Answer): void {
    const { candidate } = call.notes
    if (candidate === undefined || structured.effect !== 'unverified' || call.owner.signal.aborted) return
    // Something came after it: if that was its own, nothing more is waited for, and each action would cast doubt on the next.
    if (isDoubted(structured.evidence)) return
    const { context, observer, before, last } = candidate
    const silentMs = this.#quietTimes.quietMs(context.window.pid, before)
    const since = performance.now()
    const followed: Followed = {
      action: { owner: call.owner, tool, at: Date.now() },
      context: { ...context, minQuietMs: limits.followMs },
      observer,
      before,
      base: { ...last, isStatic: before.isStatic === true, sinceEventMs: silentMs },
      since,
      until: since + limits.followMs,
      stability: new PixelStability(),
      masked: (text) => call.short.maskedIn(text),
      observing: Promise.resolve(),
      isFound: false,
      isOver: false,
      callsUnderWay: 0,
    }
    const [oldest] = this.#followed.size < limits.mostFollowed ? [] : this.#followed
    if (oldest !== undefined) this.#end(oldest)
    this.#followed.add(followed)
    this.#run(followed).catch(() => this.#end(followed))
  }

  /** Tells the other sessions whose actions are open what was seen of this call's, which may be of theirs. */
  tellOthers(call: ActingCall, open: readonly PastAction[], window: Window, seen: readonly Evidence[]): void {
    const details = seen.flatMap(({ kind, detail }) => (kind === 'perhaps_late' ? [detail] : []))
    const others = open.filter(({ owner }) => owner.key !== call.owner.key)
    const detail = details.join('; ')
    if (detail === '') return
    for (const action of others) this.#keep(action, [], window, `${call.short.maskedIn(detail)}, or of another session`)
  }

  /** Says that an action caused all events between two observations. */
  attribute(pid: number, before: Observation, after: Observation): void {
    this.#quietTimes.attribute(pid, before, after)
  }

  /** The outcome with the late effects of the session's actions before a moment; none stands in two answers. */
  async withLateFacts<Result extends Answer>(session: string, before: number, outcome: Result): Promise<Result> {
    const open = [...this.#followed].filter(({ action, since }) => action.owner.key === session && since < before)
    await within(limits.answerMs, Promise.all(open.map((each) => this.#observe(each))))
    const untold = this.#untold.get(session)
    if (untold === undefined) return outcome
    this.#untold.delete(session)
    const { facts, leftOut } = untold
    return {
      ...outcome,
      text: [
        outcome.text,
        ...facts.map(lineOf),
        ...(leftOut > 0 ? [`Late: ${leftOut} earlier fact(s) left out.`] : []),
      ].join('\n'),
      structured: { ...outcome.structured, late: facts, ...(leftOut > 0 && { late_left_out: leftOut }) },
    }
  }

  /** Follows nothing more for a session that is over, and forgets the facts that it has not been given. */
  forget(session: string): void {
    for (const each of this.#followed) if (each.action.owner.key === session) this.#end(each)
    this.#untold.delete(session)
  }

  /** Follows nothing more. */
  clear(): void {
    for (const each of this.#followed) this.#end(each)
  }

  /** Follows nothing more and forgets everything; closing twice is fine. */
  close(): void {
    this.clear()
    this.#untold.clear()
  }

  /** How many actions are followed, and facts kept. */
  get size(): { readonly followed: number; readonly kept: number } {
    return {
      followed: this.#followed.size,
      kept: [...this.#untold.values()].reduce((sum, { facts }) => sum + facts.length, 0),
    }
  }

  async #run(followed: Followed): Promise<void> {
    let wait: number = pace.pollIntervalMs
    let { allEvents } = followed.base
    while (!followed.isOver) {
      const left = followed.until - performance.now()
      if (left <= 0) break
      const begun = performance.now()
      await followed.observer.nextEvent(allEvents, Math.min(left, wait))
      // An application that sends events all the time is not observed all the time.
      const early = pace.pollIntervalMs - (performance.now() - begun)
      if (early > 0) await followed.observer.nextEvent(undefined, early)
      if (followed.isOver) return
      allEvents = (await this.#observe(followed))?.allEvents
      wait = Math.min(wait * pace.slowing, limits.pollIntervalMs)
    }
    this.#end(followed)
  }

  /** Observes once, after an observation under way; the last time pixels count before they have been the same for a while. */
  #observe(followed: Followed, isLast = false): Promise<Observation | undefined> {
    const turn = followed.observing.then(async () => {
      if (followed.isOver || (followed.callsUnderWay > 0 && !isLast)) return undefined
      const { action, context, observer, base, stability } = followed
      const now = await observer.observe()
      stability.add(now, performance.now())
      const counted = isLast ? { isStable: () => true } : stability
      const seen = compareObservations(base, now, { ...context, pendingActions: [] }, counted).filter(isConfirming)
      if (seen.length === 0 || followed.isOver || (followed.callsUnderWay > 0 && !isLast)) return now
      followed.isFound = true
      this.#quietTimes.attribute(context.window.pid, followed.before, now)
      const detail = followed.masked(seen.map((each) => each.detail).join('; '))
      this.#keep(action, context.pendingActions ?? [], context.window, detail)
      this.#end(followed)
      return now
    })
    followed.observing = turn.catch(() => this.#end(followed))
    return turn.catch(() => undefined)
  }

  #keep(action: PastAction, others: readonly PastAction[], { pid, window_id }: Window, detail: string): void {
    const { key, signal } = action.owner
    // Nobody asks for a session that is over.
    if (signal.aborted) return
    const untold = this.#untold.get(key) ?? { facts: [], leftOut: 0 }
    this.#untold.set(key, untold)
    const or = others.map(({ tool, at, owner }) => ({
      after: tool,
      at: iso(at),
      of_another_session: owner.key !== key,
    }))
    untold.facts.push({ after: action.tool, at: iso(action.at), pid, window_id, detail, ...(or.length > 0 && { or }) })
    while (untold.facts.length > limits.mostKept) {
      untold.facts.shift()
      untold.leftOut += 1
    }
  }

  #end(followed: Followed): void {
    followed.isOver = true
    this.#followed.delete(followed)
  }
}

/** Whether something was seen of an action that may have come late of an earlier one. */
const isDoubted = (evidence: unknown): boolean =>
  Array.isArray(evidence) && evidence.some((each: { kind?: unknown }) => each.kind === 'perhaps_late')

/** Waits for work, but not for long: an application that hangs delays no answer. */
const within = async (ms: number, work: Promise<unknown>): Promise<void> => {
  const over = new AbortController()
  const isOver = pause(ms, undefined, { signal: over.signal, ref: false }).catch(() => undefined)
  await Promise.race([work, isOver])
  over.abort()
}

const iso = (at: number): string => new Date(at).toISOString()

const lineOf = ({ after, at, detail, or = [] }: LateFact): string => {
  const names = [{ after, at }, ...or].map(({ after, at }) => nameOfAction(after, Date.parse(at)))
  return `Late: after ${names.join(' or ')}: ${detail}.`
}
