/** Sessions: whose pointer, configuration and recording a call uses. */
import { Failure } from '@backlot/contract/failure'
import { environment, sessions as limits } from '@backlot/contract/limits'
import { settleAll } from '@backlot/contract/work/settle-all'
import type { Config } from '../config/config.ts'
import { reasonOf } from '../ending.ts'

/** The caller of calls that nobody says more about, as single ones from a shell: they share one agent. */
export const anonymous = 'anonymous'

/** One caller: a session that was named, a connection that names none, or the anonymous one. */
export interface Session {
  /** Tells its agent and its recording from those of all others. */
  readonly key: string
  /** What its callers call it; null for a connection's own and for the anonymous one. */
  readonly name: string | null
  /** Its changes of the configuration; the anonymous one has none. */
  overrides: Partial<Config>
  /** Aborts with `session_ended` when it ends. */
  readonly signal: AbortSignal
}

/** Who calls. */
export interface Caller {
  /** Id of the connection, or `anonymous`. */
  readonly client: string
  /** The connection whose end is the end of a session that begins with the call. */
  readonly holder?: string
  /** The session that the call names. */
  readonly session?: string
}

interface SessionRecord extends Session {
  readonly end: AbortController
  /** The connection whose end is its end. */
  holder: string | undefined
  /** Whether it was declared, and not only named by a call. */
  isDeclared: boolean
  running: number
  /** Milliseconds without a call after which it ends; 0 for never. */
  readonly idleMs: number
  idle?: ReturnType<typeof setTimeout>
}

/** What begins and ends with sessions. */
export interface SessionEvents {
  /** A named session begins. */
  begun?(name: string): void
  /** It is over, and how that came: gives back what it had. */
  ended(session: Session, how: string): Promise<void>
}

/** All sessions of a driver. */
export class Sessions {
  readonly #records = new Map<string, SessionRecord>()
  /** How each of the latest that are over ended. */
  readonly #ended = new Map<string, string>()

  readonly #followers: SessionEvents[] = []

  constructor(private readonly env: Readonly<Record<string, string | undefined>> = process.env) {}

  /** Tells of beginnings and ends from now on. */
  follow(events: SessionEvents): void {
    this.#followers.push(events)
  }

  /** Names of the sessions that are active, in the order of their beginning. */
  get active(): readonly string[] {
    return [...this.#records.values()].flatMap(({ name }) => (name === null ? [] : [name]))
  }

  /**
   * Runs a call in its session, which begins with it where there is none; the signal aborts as `signal` does, and when
   * the session ends. A call that only looks does not begin a named session: it sees what one has that nobody has used.
   * Throws `session_ended` for one that is over.
   */
  async runCall<T>(
    caller: Caller,
    signal: AbortSignal,
    work: (session: Session, signal: AbortSignal) => Promise<T>,
    onlyLooks = false,
  ): Promise<T> {
    // A connection that is gone takes its own session along, which a late call must not begin again.
    if (signal.aborted) throw reasonOf(signal)
    const session = this.#of(caller, onlyLooks)
    if (!('end' in session)) return work(session, signal)
    const running = new AbortController()
    const ways = [signal, session.signal].map((each) => ({ each, abort: () => running.abort(each.reason) }))
    for (const { each, abort } of ways) {
      if (each.aborted) abort()
      each.addEventListener('abort', abort, { once: true })
    }
    session.running += 1
    clearTimeout(session.idle)
    try {
      return await work(session, running.signal)
    } finally {
      session.running -= 1
      for (const { each, abort } of ways) each.removeEventListener('abort', abort)
      this.#watchIdle(session)
    }
  }

  /** Declares a session, which begins unless it is active; `holder` is the connection whose end is its end. */
  start(name: string, holder: string | undefined): { readonly session: Session; readonly isNew: boolean } {
    const key = keyOf(name)
    const known = this.#records.get(key)
    this.#ended.delete(name)
    const session = known ?? this.#begin(key, name, holder)
    if (known !== undefined && !known.isDeclared) known.holder = holder
    session.isDeclared = true
    this.#watchIdle(session)
    return { session, isNew: known === undefined }
  }

  /** Ends a session; false when it was not active. Its calls under way fail with `session_ended`. */
  async end(name: string): Promise<boolean> {
    const session = this.#records.get(keyOf(name))
    if (session !== undefined) await this.#end(session, 'end_session ended it')
    return session !== undefined
  }

  /** Ends what ends with a connection: its own session, and those that it started. */
  async disconnected(client: string): Promise<void> {
    const over = [...this.#records.values()].filter(({ key, holder }) => key === client || holder === client)
    await settleAll(over.map(async (session) => this.#end(session, closed)))
  }

  /** Ends all. */
  async close(): Promise<void> {
    await settleAll([...this.#records.values()].map(async (session) => this.#end(session, 'the driver ended')))
  }

  #of({ client, holder, session: name }: Caller, onlyLooks: boolean): SessionRecord | Session {
    const key = name === undefined ? client : keyOf(name)
    const known = this.#records.get(key)
    if (known !== undefined) return known
    const how = name === undefined ? undefined : this.#ended.get(name)
    if (name !== undefined && how !== undefined) throw sessionEnded(name, how, 'Nothing was done')
    return name !== undefined && onlyLooks ? unused(key, name) : this.#begin(key, name ?? null, holder)
  }

  #begin(key: string, name: string | null, holder: string | undefined): SessionRecord {
    const end = new AbortController()
    const { signal } = end
    const idleMs = name === null ? 0 : idleSeconds(this.env) * 1_000
    const session: SessionRecord = {
      key,
      name,
      overrides: {},
      signal,
      end,
      holder,
      isDeclared: false,
      running: 0,
      idleMs,
    }
    this.#records.set(key, session)
    if (name !== null) for (const follower of this.#followers) follower.begun?.(name)
    return session
  }

  async #end(session: SessionRecord, how: string): Promise<void> {
    const { key, name, isDeclared, end } = session
    if (this.#records.get(key) !== session) return
    this.#records.delete(key)
    clearTimeout(session.idle)
    // What nobody declared and only a connection named is forgotten with the connection.
    if (name !== null && (isDeclared || how !== closed)) this.#remember(name, how)
    end.abort(sessionEnded(name ?? key, how, 'What was sent before stays done'))
    await settleAll(this.#followers.map(async (follower) => follower.ended(session, how)))
  }

  #remember(name: string, how: string): void {
    this.#ended.set(name, how)
    for (const [oldest] of this.#ended) {
      if (this.#ended.size <= limits.endedKept) break
      this.#ended.delete(oldest)
    }
  }

  #watchIdle(session: SessionRecord): void {
    clearTimeout(session.idle)
    const { name, running, signal, idleMs } = session
    if (name === null || running > 0 || signal.aborted) return
    session.idle = setTimeout(() => {
      this.#end(session, `no call named it for ${idleMs / 1_000} s`).catch(() => undefined)
    }, idleMs)
    session.idle.unref()
  }
}

const closed = 'the connection that started it was closed'

/** A session of that name in which nothing has been done: it is not active, and so does not end. */
const unused = (key: string, name: string): Session => ({
  key,
  name,
  overrides: {},
  signal: new AbortController().signal,
})

/** A name can look like a connection's. */
const keyOf = (name: string): string => `session ${name}`

/** Seconds until a session without calls ends. Throws `invalid_environment`. */
const idleSeconds = (env: Readonly<Record<string, string | undefined>>): number => {
  const given = env[environment.sessionIdle]
  if (given === undefined || given === '') return limits.idleSeconds
  const seconds = /^\d{1,6}(\.\d+)?$/.test(given) ? Number(given) : 0
  if (seconds > 0) return seconds
  throw new Failure(
    'invalid_environment',
    `${environment.sessionIdle} is "${given}"; set it to a number of seconds above 0.`,
    { variable: environment.sessionIdle },
  )
}

const sessionEnded = (name: string, how: string, done: string): Failure =>
  new Failure(
    'session_ended',
    `The session "${name}" is over: ${how}. ${done}; call start_session to begin it again.`,
    { session: name },
  )
