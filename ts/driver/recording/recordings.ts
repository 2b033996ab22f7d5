/** The recordings of a driver: one for each session, and an anonymous one that holds every call. */

import { realpath } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { environment, recording as limits } from '@backlot/contract/limits'
import { Queue } from '@backlot/contract/queue'
import { type Call, viewersOf } from '../context.ts'
import type { Driver } from '../driver.ts'
import type { CursorEvent } from '../session/cursors.ts'
import { anonymous, type Session } from '../session/sessions.ts'
import type { Outcome, Tool } from '../tool/tool.ts'
import { noApplication, readApplication } from './application.ts'
import { inUse } from './folder.ts'
import { Recording, type RecordingOptions, type RecordingState } from './recording.ts'
import { clickPointOf, pidOf, type RecordedCall, turnOf } from './turn.ts'

/** What the owner of a recording is told of it. */
export interface OwnState extends RecordingState {
  readonly recording: boolean
}

const byDriver = new WeakMap<Driver, Recordings>()

/** The recordings of a driver, each of which ends with the session that owns it. */
export const recordingsOf = (driver: Driver): Recordings => {
  const known = byDriver.get(driver)
  if (known !== undefined) return known
  const recordings = new Recordings()
  driver.sessions.follow({ ended: (session, how) => recordings.ended(session, how) })
  driver.cursors.follow((event) => recordings.noteCursor(event))
  byDriver.set(driver, recordings)
  return recordings
}

/** All recordings, and what they hold. */
class Recordings {
  readonly #active = new Map<string, Recording>()
  readonly #last = new Map<string, RecordingState>()
  /** One change after another. */
  readonly #changes = new Queue()
  #idle: ReturnType<typeof setTimeout> | undefined
  /** Calls under way. */
  #running = 0

  constructor(private readonly env: Readonly<Record<string, string | undefined>> = process.env) {}

  /** Those that are going on. */
  get active(): readonly Recording[] {
    return [...this.#active.values()]
  }

  /** Starts the session's recording, after its earlier one has ended. Throws `recording_not_started`. */
  start(driver: Driver, session: Session, options: RecordingOptions): Promise<RecordingState> {
    return this.#changes.run(async () => {
      await this.#stop(session.key, 'its owner started another')
      const folder = await realpath(options.output_dir).catch(() => options.output_dir)
      const other = this.active.find((each) => each.folder === folder)
      if (other !== undefined) throw inUse(options.output_dir, other.owner)
      const recording = await Recording.start(driver, session, ownerOf(session), options)
      this.#active.set(session.key, recording)
      // It may have ended while the folder was made.
      if (session.signal.aborted) await this.#stop(session.key, 'its session was over')
      this.#watchIdle()
      return recording.state
    })
  }

  /** Stops the session's recording; where it has none, or is the anonymous one, all that are active. */
  stop({ key }: Session): Promise<readonly RecordingState[]> {
    return this.#changes.run(async () => {
      const keys = key !== anonymous && this.#active.has(key) ? [key] : [...this.#active.keys()]
      const stopped = await Promise.all(keys.map((each) => this.#stop(each, 'stop_recording')))
      return stopped.flatMap((state) => state ?? [])
    })
  }

  /** Stops what belongs to a session that is over. */
  async ended({ key }: Pick<Session, 'key'>, how: string): Promise<void> {
    await this.#changes.run(() => this.#stop(key, how))
    this.#last.delete(key)
  }

  /** Stops all. */
  async #close(because: string): Promise<void> {
    clearTimeout(this.#idle)
    await this.#changes.run(() => Promise.all([...this.#active.keys()].map((key) => this.#stop(key, because))))
  }

  /** The recording that holds the session's calls: its own, else the anonymous one; else how its last one ended. */
  stateFor({ key }: Session): OwnState {
    const active =
      this.#active.get(key) ?? this.#active.get(anonymous) ?? (key === anonymous ? this.active[0] : undefined)
    if (active !== undefined) return { recording: true, ...active.state }
    const last = this.#last.get(key)
    return { ...unrecorded, last_error: last?.last_error ?? null, last_video_path: last?.last_video_path ?? null }
  }

  /** Runs what a caller asked for: for as long as that takes, what is recorded is in use. */
  async whileInUse<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1
    clearTimeout(this.#idle)
    try {
      return await work()
    } finally {
      this.#running -= 1
      this.#watchIdle()
    }
  }

  #watchIdle(): void {
    clearTimeout(this.#idle)
    if (this.#active.size === 0 || this.#running > 0) return
    this.#idle = setTimeout(() => {
      this.#close('no tool was called for a long time').catch(() => undefined)
    }, idleMs(this.env))
    this.#idle.unref()
  }

  /** A cursor did something: those that hold its session's calls note it. */
  noteCursor(event: CursorEvent): void {
    for (const recording of this.#holding(event)) recording.note(event)
  }

  /** Runs a call, and hands what was seen of it to the recordings that hold it. */
  async recordCall(call: Call, tool: Tool, args: RecordedCall['args'], run: () => Promise<Outcome>): Promise<Outcome> {
    const holding = tool.attributes.recorded ? this.#holding(call.owner) : []
    if (holding.length === 0) return run()
    const [started_at, from] = [new Date(), performance.now()]
    const take = (outcome: Outcome | Failure) => {
      const { actedOn } = call.notes
      const { pid, window_id } = actedOn.window ?? {}
      return this.#take(call, holding, {
        tool,
        args,
        outcome,
        session: call.owner.name,
        started_at,
        duration_ms: performance.now() - from,
        actedOn,
        scale:
          pid === undefined || window_id === undefined
            ? 1
            : call.driver.windowCache.scale(pid, window_id, viewersOf(call)),
      })
    }
    try {
      const outcome = await run()
      await take(outcome)
      return outcome
    } catch (error) {
      await take(Failure.from(error))
      throw error
    }
  }

  /** Takes the pixels of this moment; all else is done when the call has been answered. */
  async #take(call: Call, holding: readonly Recording[], done: RecordedCall): Promise<void> {
    const pid = pidOf(done)
    const clicked = clickPointOf(done) && done.actedOn.window
    const reading =
      pid === undefined
        ? Promise.resolve(noApplication('the call had no process'))
        : readApplication(call, pid, clicked)
    const turn = reading.then((application) => turnOf(done, application, call.driver.secrets, call.short))
    for (const recording of holding) recording.take(turn, done.started_at)
    await Promise.race([reading, Bun.sleep(limits.longestHoldMs)])
  }

  #holding({ key }: Pick<Session, 'key'>): readonly Recording[] {
    const keys = key === anonymous ? [anonymous] : [key, anonymous]
    return keys.flatMap((each) => this.#active.get(each) ?? [])
  }

  async #stop(key: string, because: string): Promise<RecordingState | undefined> {
    const recording = this.#active.get(key)
    if (recording === undefined) return undefined
    this.#active.delete(key)
    const state = await recording.stop(because)
    this.#last.set(key, state)
    return state
  }
}

const unrecorded: OwnState = {
  recording: false,
  output_dir: '',
  owner: null,
  next_turn: 1,
  last_error: null,
  video_active: false,
  last_video_path: null,
  earlier: null,
}

const ownerOf = ({ key, name }: Session): string | null => name ?? (key === anonymous ? null : key)

const idleMs = (env: Readonly<Record<string, string | undefined>>): number => {
  const seconds = Number(env[environment.recordingIdle])
  return (seconds > 0 ? Math.min(seconds, 1_000_000) : limits.idleSeconds) * 1_000
}
