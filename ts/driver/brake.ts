/**
 * The person's brake: halts every action of every caller until the person lets them go on.
 *
 * It is on while its file stands, which all drivers of a display share: one that is started meanwhile, in whatever
 * process, finds it on. A driver that has actions under way watches the file's folder.
 */
import { type FSWatcher, mkdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Failure } from '@backlot/contract/failure'

export { pauseFileOf } from './display.ts'

/** What put the brake on: `backlot-driver pause`, or the stop key. */
export type PausedBy = 'command' | 'stop_key'

/** How the brake stands, as the socket and the shell show it. */
export interface BrakeState {
  readonly paused: boolean
  readonly paused_by: PausedBy | null
  /** RFC 3339. */
  readonly paused_at: string | null
}

const released: BrakeState = { paused: false, paused_by: null, paused_at: null }

/** One driver's view of the brake of its display. */
export class Brake implements Disposable {
  readonly #running = new Set<AbortController>()
  #watcher: FSWatcher | undefined
  /** Holds where the file cannot be written, in this driver alone. */
  #unwritten: BrakeState | undefined

  constructor(readonly file: string) {}

  /** How it stands now. A file that cannot be read is a brake that is on. */
  get state(): BrakeState {
    if (this.#unwritten !== undefined) return this.#unwritten
    let text: string
    try {
      text = readFileSync(this.file, 'utf8')
    } catch (error) {
      return (error as { code?: unknown }).code === 'ENOENT' ? released : { ...released, paused: true }
    }
    const [by = '', at = ''] = text.trim().split(' ')
    return {
      paused: true,
      paused_by: by === 'command' || by === 'stop_key' ? by : null,
      paused_at: at === '' ? null : at,
    }
  }

  /** Halts all actions; those under way have been told when it returns. Pausing twice keeps the first. */
  pause(by: PausedBy): BrakeState {
    if (!this.state.paused) this.#write(by, new Date().toISOString())
    this.#halt()
    return this.state
  }

  /** True when a pause could not be written where other drivers look for it, and holds for this one alone. */
  get isPrivate(): boolean {
    return this.#unwritten !== undefined
  }

  /** Lets later actions go on; what was halted stays so. */
  resume(): BrakeState {
    this.#unwritten = undefined
    rmSync(this.file, { force: true })
    return this.state
  }

  /**
   * Runs an action under the brake: its signal aborts with `paused_by_person` when the brake goes on, and as `signal`
   * does. Throws `paused_by_person` where it is on already.
   */
  async during<T>(signal: AbortSignal, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#watch()
    const running = new AbortController()
    const follow = () => running.abort(signal.reason)
    if (signal.aborted) follow()
    signal.addEventListener('abort', follow, { once: true })
    this.#running.add(running)
    try {
      // After it counts as running: what puts the brake on from here on halts it.
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
    const temporary = `${this.file}.${process.pid}.tmp`
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 })
      writeFileSync(temporary, `${by} ${at}\n`, { mode: 0o600 })
      renameSync(temporary, this.file)
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

const pausedByPerson = ({ paused_by, paused_at }: BrakeState): Failure =>
  new Failure(
    'paused_by_person',
    `The person has paused all actions${paused_by === 'stop_key' ? ' with the stop key' : ''}${paused_at === null ? '' : ` at ${paused_at}`}. Looking works; ask the person to go on, who then runs \`backlot-driver resume\`.`,
    { paused_by, paused_at },
  )
