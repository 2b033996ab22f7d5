/** What comes of actions after they were answered: it is told with the next answer of the session that acted. */
import { setTimeout as pause } from 'node:timers/promises'
import { late as limits, evidence as pace } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import type { Session } from '../session/sessions.ts'
import { Silence } from './silence.ts'
import {
  type Acted,
  compareLooks,
  type Evidence,
  type Eyes,
  isConfirming,
  type Look,
  nameOfAction,
  type Scene,
  Stay,
} from './witnesses.ts'

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
export interface Acting {
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
  readonly scene: Scene
  readonly eyes: Eyes
  readonly before: Look
  /** The look that the answer was given on. */
  readonly last: Look
}

/** An action that is followed. */
interface Followed {
  readonly acted: Acted
  readonly scene: Scene
  readonly eyes: Eyes
  readonly base: Look
  readonly before: Look
  /** When it was answered and until when it is followed, by `performance.now`. */
  readonly since: number
  readonly until: number
  readonly stay: Stay
  /** Takes out what only the call that acted knew to be a secret. */
  readonly masked: (text: string) => string
  /** Settled when the look asked for last is over. */
  looking: Promise<unknown>
  /** Something was seen. */
  isFound: boolean
  isOver: boolean
  /** Calls under way that may act on the application. */
  holders: number
}

interface Kept {
  readonly facts: LateFact[]
  leftOut: number
}

/** Follows actions of all sessions. */
export class Late {
  readonly #followed = new Set<Followed>()
  readonly #kept = new Map<string, Kept>()
  readonly #silence = new Silence()

  /** A call begins that may act on an application: what is seen of earlier actions while it goes on may be its own. */
  async begin(call: Acting, pid: number): Promise<void> {
    const earlier = [...this.#followed].filter(({ scene }) => scene.window.pid === pid)
    call.notes.earlier = earlier
    await Promise.all(earlier.map((each) => this.#look(each)))
    for (const each of earlier) each.holders += 1
  }

  /**
   * Looks for the last time at what came of the earlier actions, right before a call acts: whether something was seen, and
   * which of them are still open.
   */
  async lookLast(call: Acting): Promise<{ readonly isFound: boolean; readonly open: readonly Acted[] }> {
    const { earlier = [] } = call.notes
    const followed = earlier.filter(({ isOver }) => !isOver)
    await Promise.all(followed.map((each) => this.#look(each, true)))
    for (const each of followed) this.#end(each)
    const acted = earlier.flatMap(({ isFound, acted, scene }) => (isFound ? [] : [acted, ...(scene.mayBeLate ?? [])]))
    const oldest = Date.now() - limits.followMs
    return { isFound: followed.some(({ isFound }) => isFound), open: acted.filter(({ at }) => at > oldest) }
  }

  /** The call is over: the earlier actions are followed on unless it acted. */
  release(call: Acting, hasActed: boolean): void {
    for (const each of call.notes.earlier ?? []) {
      each.holders -= 1
      if (hasActed) this.#end(each)
    }
    delete call.notes.earlier
  }

  /** Notes where the call's action may show yet; the last note counts. */
  note(call: Acting, candidate: Candidate): void {
    call.notes.candidate = candidate
  }

  /** The call is done: its action is followed if nothing was seen of it. */
  follow(call: Acting, tool: string, { structured }: Answer): void {
    const { candidate } = call.notes
    if (candidate === undefined || structured.effect !== 'unverified' || call.owner.signal.aborted) return
    // Something came after it: if that was its own, nothing more is waited for, and each action would cast doubt on the next.
    if (isDoubted(structured.evidence)) return
    const { scene, eyes, before, last } = candidate
    const silentMs = this.#silence.before(scene.window.pid, before)
    const since = performance.now()
    const followed: Followed = {
      acted: { owner: call.owner, tool, at: Date.now() },
      scene: { ...scene, silenceMs: limits.followMs },
      eyes,
      before,
      base: { ...last, isStill: before.isStill === true, quietMs: silentMs },
      since,
      until: since + limits.followMs,
      stay: new Stay(),
      masked: (text) => call.short.maskedIn(text),
      looking: Promise.resolve(),
      isFound: false,
      isOver: false,
      holders: 0,
    }
    const [oldest] = this.#followed.size < limits.mostFollowed ? [] : this.#followed
    if (oldest !== undefined) this.#end(oldest)
    this.#followed.add(followed)
    this.#run(followed).catch(() => this.#end(followed))
  }

  /** Tells the other sessions whose actions are open what was seen of this call's, which may be of theirs. */
  tellOthers(call: Acting, open: readonly Acted[], window: Window, seen: readonly Evidence[]): void {
    const details = seen.flatMap(({ kind, detail }) => (kind === 'perhaps_late' ? [detail] : []))
    const others = open.filter(({ owner }) => owner.key !== call.owner.key)
    const detail = details.join('; ')
    if (detail === '') return
    for (const acted of others) this.#keep(acted, [], window, `${call.short.maskedIn(detail)}, or of another session`)
  }

  /** Says that what an application told between two looks came of an action. */
  explain(pid: number, before: Look, after: Look): void {
    this.#silence.explain(pid, before, after)
  }

  /** The outcome with what came late of the session's actions before a moment; nothing is told twice. */
  async told<Told extends Answer>(session: string, before: number, outcome: Told): Promise<Told> {
    const open = [...this.#followed].filter(({ acted, since }) => acted.owner.key === session && since < before)
    await within(limits.answerMs, Promise.all(open.map((each) => this.#look(each))))
    const kept = this.#kept.get(session)
    if (kept === undefined) return outcome
    this.#kept.delete(session)
    const { facts, leftOut } = kept
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

  /** Follows nothing more for a session that is over, and forgets what it was not told. */
  forget(session: string): void {
    for (const each of this.#followed) if (each.acted.owner.key === session) this.#end(each)
    this.#kept.delete(session)
  }

  /** Follows nothing more. */
  clear(): void {
    for (const each of this.#followed) this.#end(each)
  }

  /** Follows nothing more and forgets everything; closing twice is fine. */
  close(): void {
    this.clear()
    this.#kept.clear()
  }

  /** How many actions are followed, and facts kept. */
  get size(): { readonly followed: number; readonly kept: number } {
    return {
      followed: this.#followed.size,
      kept: [...this.#kept.values()].reduce((sum, { facts }) => sum + facts.length, 0),
    }
  }

  async #run(followed: Followed): Promise<void> {
    let wait: number = pace.lookEveryMs
    let { events } = followed.base
    while (!followed.isOver) {
      const left = followed.until - performance.now()
      if (left <= 0) break
      const begun = performance.now()
      await followed.eyes.nextEvent(events, Math.min(left, wait))
      // One that speaks all the time is not looked at all the time.
      const early = pace.lookEveryMs - (performance.now() - begun)
      if (early > 0) await followed.eyes.nextEvent(undefined, early)
      if (followed.isOver) return
      events = (await this.#look(followed))?.events
      wait = Math.min(wait * pace.slowing, limits.lookEveryMs)
    }
    this.#end(followed)
  }

  /** Looks once, after whoever looks already; the last time what was drawn counts before it has stayed. */
  #look(followed: Followed, isLast = false): Promise<Look | undefined> {
    const turn = followed.looking.then(async () => {
      if (followed.isOver || (followed.holders > 0 && !isLast)) return undefined
      const { acted, scene, eyes, base, stay } = followed
      const now = await eyes.look()
      stay.see(now, performance.now())
      const judge = isLast ? { has: () => true } : stay
      const seen = compareLooks(base, now, { ...scene, mayBeLate: [] }, judge).filter(isConfirming)
      if (seen.length === 0 || followed.isOver || (followed.holders > 0 && !isLast)) return now
      followed.isFound = true
      this.#silence.explain(scene.window.pid, followed.before, now)
      const detail = followed.masked(seen.map((each) => each.detail).join('; '))
      this.#keep(acted, scene.mayBeLate ?? [], scene.window, detail)
      this.#end(followed)
      return now
    })
    followed.looking = turn.catch(() => this.#end(followed))
    return turn.catch(() => undefined)
  }

  #keep(acted: Acted, others: readonly Acted[], { pid, window_id }: Window, detail: string): void {
    const { key, signal } = acted.owner
    // Nobody asks for a session that is over.
    if (signal.aborted) return
    const kept = this.#kept.get(key) ?? { facts: [], leftOut: 0 }
    this.#kept.set(key, kept)
    const or = others.map(({ tool, at, owner }) => ({
      after: tool,
      at: iso(at),
      of_another_session: owner.key !== key,
    }))
    kept.facts.push({ after: acted.tool, at: iso(acted.at), pid, window_id, detail, ...(or.length > 0 && { or }) })
    while (kept.facts.length > limits.mostKept) {
      kept.facts.shift()
      kept.leftOut += 1
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
