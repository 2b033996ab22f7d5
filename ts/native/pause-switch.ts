/**
 * The person's pause: it halts every action of every caller until the person lets them go on.
 *
 * It lasts while its file stands (and where a live view made it, while the view's server lives), which all drivers of a
 * display share: one that is started meanwhile, in whatever process, finds it there. A driver that has actions under way
 * watches the file's folder.
 */
import { type FSWatcher, mkdirSync, readFileSync, rmSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { writeWholeSync } from './durable.ts'
import { startTicksOf } from './proc-stat.ts'

const causes = ['command', 'stop_key', 'view'] as const

/** What paused: `backlot-driver pause`, the stop key, or a person who took over at a live view. */
export type PausedBy = (typeof causes)[number]

/** Whether actions are paused, as the socket and the shell show it. */
export interface PauseState {
  readonly paused: boolean
  readonly paused_by: PausedBy | null
  /** RFC 3339. */
  readonly paused_at: string | null
}

const released: PauseState = { paused: false, paused_by: null, paused_at: null }

/** Pauses the actions on a display, and lets them go on, as one driver of it does. */
export class PauseSwitch implements Disposable {
  readonly #running = new Set<AbortController>()
  #watcher: FSWatcher | undefined
  /** Holds where the file cannot be written, in this driver alone. */
  #unwritten: PauseState | undefined

  constructor(readonly file: string) {}

  /** How it stands now. A file that cannot be read is a pause. */
  get state(): PauseState {
    if (this.#unwritten !== undefined) return this.#unwritten
    let text: string
    try {
      text = readFileSync(this.file, 'utf8')
    } catch (error) {
      return (error as { code?: unknown }).code === 'ENOENT' ? released : { ...released, paused: true }
    }
    const [by = '', at = '', pid = '', began = ''] = text.trim().split(' ')
    // Who took over at a view pauses for as long as the server of the view lives.
    if (by === 'view' && startTicksOf(Number(pid)) !== Number(began)) return released
    return {
      paused: true,
      paused_by: causes.find((cause) => cause === by) ?? null,
      paused_at: at === '' ? null : at,
    }
  }

  /** Halts all actions; those under way have been told when it returns. Pausing twice keeps the first. */
  pause(by: PausedBy): PauseState {
    if (!this.state.paused) this.#write(by, new Date().toISOString())
    this.#halt()
    return this.state
  }

  /** True when a pause could not be written where other drivers look for it, and holds for this one alone. */
  get isPrivate(): boolean {
    return this.#unwritten !== undefined
  }

  /** Lets later actions go on; what was halted stays so. */
  resume(): PauseState {
    this.#unwritten = undefined
    rmSync(this.file, { force: true })
    return this.state
  }

  /**
   * Runs an action: its signal aborts with `paused_by_person` when the person pauses, and as `signal` does. Throws
   * `paused_by_person` where they have paused already.
   */
  async during<T>(signal: AbortSignal, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#watch()
    const running = new AbortController()
    const follow = () => running.abort(signal.reason)
    if (signal.aborted) follow()
    signal.addEventListener('abort', follow, { once: true })
    this.#running.add(running)
    try {
      // After it counts as running: who pauses from here on halts it.
      const { state } = this
      if (state.paused) throw pausedByPerson(state)
      return await action(running.signal)
    } finally {
      this.#running.delete(running)
      signal.removeEventListener('abort', follow)
    }
  }

  /** Looks away; actions under way are not halted. */
  [Symbol.dispose](): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  #write(by: PausedBy, at: string): void {
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 })
      const holder = by === 'view' ? ` ${process.pid} ${startTicksOf(process.pid)}` : ''
      writeWholeSync(this.file, `${by} ${at}${holder}\n`)
    } catch {
      this.#unwritten = { paused: true, paused_by: by, paused_at: at }
    }
  }

  #halt(): void {
    const failure = pausedByPerson(this.state)
    for (const running of this.#running) running.abort(failure)
  }

  #watch(): void {
    if (this.#watcher !== undefined) return
    const folder = dirname(this.file)
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      this.#watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name === basename(this.file) && this.state.paused) this.#halt()
      })
      this.#watcher.on('error', () => this[Symbol.dispose]())
    } catch {
      // Where there can be no folder, no other process can put a file there.
    }
  }
}

const pausedByPerson = ({ paused_by, paused_at }: PauseState): Failure => {
  const how = paused_by === 'stop_key' ? ' with the stop key' : paused_by === 'view' ? ' and acts at the live view' : ''
  const since = paused_at === null ? '' : ` at ${paused_at}`
  const next = paused_by === 'view' ? 'lets go there' : 'runs `backlot-driver resume`'
  return new Failure(
    'paused_by_person',
    `The person has paused all actions${how}${since}. Looking works; ask the person to go on, who then ${next}.`,
    { paused_by, paused_at },
  )
}
