/** One recording: numbers its turns and writes them one after the other, off the path of the calls. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { recording as limits } from '@backlot/contract/limits'
import { Queue } from '@backlot/contract/queue'
import { version } from '@backlot/contract/version'
import type { Driver } from '../driver.ts'
import type { CursorEvent } from '../session/cursors.ts'
import type { Session } from '../session/sessions.ts'
import { type Film, startFilm } from './film.ts'
import {
  appendBeside,
  asJson,
  names,
  type OwnFolder,
  prepareFolder,
  takeFolder,
  turnName,
  writeBeside,
  writeTurn,
} from './folder.ts'
import type { Turn } from './turn.ts'
import { filesOf } from './turn-files.ts'

/** What a recording is asked for. */
export interface RecordingOptions {
  readonly output_dir: string
  readonly record_video: boolean
}

/** How a recording stands. */
export interface RecordingState {
  readonly output_dir: string
  /** The session that owns it, or null. */
  readonly owner: string | null
  /** Number of the next turn's folder. */
  readonly next_turn: number
  /** What went wrong last; null when nothing did. */
  readonly last_error: string | null
  readonly video_active: boolean
  /** The film, once it is finished. */
  readonly last_video_path: string | null
  /** Where that stands now which an earlier recording had left in the folder; null where nothing was. */
  readonly earlier: string | null
}

/** A recording that is going on, or is over. */
export class Recording {
  readonly #startedAt = new Date()
  #film: Film | undefined
  #filmPath: string | null = null
  #earlier: string | null = null
  #next = 1
  #waiting = 0
  #error: string | null = null
  readonly #writes = new Queue()
  #stopped: Promise<RecordingState> | undefined

  private constructor(
    private readonly driver: Driver,
    /** Whose calls it holds; the anonymous one's holds all. */
    readonly session: Session,
    private readonly options: RecordingOptions,
    private readonly own: OwnFolder,
  ) {}

  /** Makes the folder and begins. Throws `recording_not_started`; a film that cannot be made is only said. */
  static async start(
    driver: Driver,
    session: Session,
    owner: string | null,
    options: RecordingOptions,
  ): Promise<Recording> {
    const { output_dir } = options
    const own = await takeFolder(output_dir).catch((error: unknown) => {
      const failure = Failure.from(error)
      throw failure.code === 'recording_not_started' ? failure : notWritable(output_dir, failure)
    })
    const recording = new Recording(driver, session, options, own)
    recording.owner = owner
    try {
      recording.#earlier = await prepareFolder(output_dir, recording.#startedAt)
      await recording.#writeSession(null)
    } catch (error) {
      await own.release()
      throw notWritable(output_dir, Failure.from(error))
    }
    if (options.record_video) await recording.#startFilm(join(output_dir, names.film))
    return recording
  }

  /** The session that owns it, or null. */
  owner: string | null = null

  /** Where it writes, without symbolic links. */
  get folder(): string {
    return this.own.path
  }

  get isOver(): boolean {
    return this.#stopped !== undefined
  }

  get state(): RecordingState {
    const film = this.#film?.state()
    const filmError = film?.error ?? null
    return {
      output_dir: this.options.output_dir,
      owner: this.owner,
      next_turn: this.#next,
      last_error: filmError ?? this.#error ?? film?.outside ?? null,
      video_active: this.#film !== undefined && filmError === null && !this.isOver,
      last_video_path: this.#filmPath,
      earlier: this.#earlier,
    }
  }

  /** Takes the next turn, which is written later. */
  take(coming: Promise<Turn>, startedAt: Date): void {
    if (this.isOver) return
    const turn = this.#next
    this.#next += 1
    this.#waiting += 1
    const isCrowded = this.#waiting > limits.mostWaiting
    const files = coming.then(async (taken) => {
      const missing = `${limits.mostWaiting} turns before it were not written yet`
      const { shot: _, clicked: __, ...application } = taken.application
      const kept: Turn = isCrowded
        ? {
            ...taken,
            state: asJson({ tree_markdown: null, elements: [], reason: missing }),
            application: { ...application, missing, isDefect: true },
          }
        : taken
      return { taken: kept, files: await filesOf(kept, this.#factsOf(turn, startedAt)) }
    })
    // Its failure is awaited below, when its turn has come.
    files.catch(() => undefined)
    this.#queue(`Turn ${turn}`, async () => {
      try {
        const { taken, files: content } = await files
        await writeTurn(this.options.output_dir, turn, content)
        const { missing, isDefect } = taken.application
        if (isDefect) this.#error = `Turn ${turn} has no screenshot: ${missing}.`
        await this.#noteCursor(turn, taken, startedAt)
      } finally {
        this.#waiting -= 1
      }
    })
  }

  /** Adds what a cursor did, among the clicks. */
  note({ at, session, cursor_id, kind, x, y }: CursorEvent): void {
    if (this.isOver) return
    const { elapsed_ms } = this.#factsOf(0, at)
    this.#queue('The way of a cursor', () =>
      this.#append({ timestamp: at.toISOString(), elapsed_ms, session, kind, cursor_id, x, y }),
    )
  }

  /** Writes what waits, finishes the film, and says how it ended; stopping twice is fine. */
  stop(because: string): Promise<RecordingState> {
    this.#stopped ??= this.#finish(because)
    return this.#stopped
  }

  async #finish(because: string): Promise<RecordingState> {
    const film = this.#film
    const ended = await film?.stop().catch((thrown: unknown) => ({ error: Failure.from(thrown).message }))
    if (ended?.error) this.#error = ended.error
    const path = join(this.options.output_dir, names.film)
    if (film !== undefined && existsSync(path)) this.#filmPath = path
    this.#queue('The end of the recording', () => this.#writeSession(because))
    await this.#writes.idle()
    await this.own.release()
    return this.state
  }

  async #startFilm(path: string): Promise<void> {
    try {
      this.#film = await startFilm(this.driver, path)
      await this.#writeSession(null)
    } catch (error) {
      this.#error = Failure.from(error).message
    }
  }

  #queue(what: string, work: () => Promise<void>): void {
    this.#writes
      .run(() => this.own.check().then(work))
      .catch((error: unknown) => {
        this.#error = `${what} was not written to "${this.options.output_dir}": ${Failure.from(error).message}. Make room there, or call start_recording with another folder.`
      })
  }

  #factsOf(turn: number, at: Date) {
    return {
      turn,
      elapsed_ms: at.getTime() - this.#startedAt.getTime(),
      video_ms: this.#film === undefined ? null : at.getTime() - this.#film.startedAt.getTime(),
    }
  }

  async #noteCursor(turn: number, { click, action }: Turn, at: Date): Promise<void> {
    if (click === undefined) return
    const { screen_x: x, screen_y: y, window_id } = click
    const { elapsed_ms } = this.#factsOf(turn, at)
    await this.#append({
      timestamp: at.toISOString(),
      elapsed_ms,
      session: action.session,
      kind: 'click',
      turn,
      x,
      y,
      window_id,
    })
  }

  async #append(line: object): Promise<void> {
    await appendBeside(this.options.output_dir, names.cursor, `${JSON.stringify(line)}\n`)
  }

  async #writeSession(stopped_because: string | null): Promise<void> {
    const { output_dir, next_turn: _, ...state } = this.state
    const screen = await this.driver.desktop().then(
      (desktop) => desktop.screen(),
      () => null,
    )
    const facts = {
      format: 1,
      version,
      screen,
      started_at: this.#startedAt.toISOString(),
      stopped_at: stopped_because === null ? null : new Date().toISOString(),
      stopped_because,
      turns: this.#next - 1,
      last_turn: this.#next === 1 ? null : turnName(this.#next - 1),
      video: this.#film === undefined ? null : { file: names.film, started_at: this.#film.startedAt.toISOString() },
      ...state,
    }
    await writeBeside(output_dir, names.session, asJson(facts))
  }
}

const notWritable = (output_dir: string, { message }: Failure): Failure =>
  new Failure(
    'recording_not_started',
    `The recording cannot write to "${output_dir}": ${message}. Name a folder that you may write.`,
    { output_dir },
  )
