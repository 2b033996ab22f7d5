/** The log of the service: one JSON line for each event, in two files that take turns. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { readIfThere } from '../files/durable.ts'

/** How much an event matters. */
export type LogLevel = 'info' | 'error'

/** The file; the one before it ends with `.1`. Several services may write to it. */
export class LogFile {
  constructor(
    readonly path: string,
    readonly mostBytes: number,
    /** Takes a lock on a file, or gives undefined where a living process holds it. */
    readonly lock: (path: string) => { release(): void } | undefined,
  ) {}

  /** Adds a line; a log that cannot be written keeps nobody from their work. */
  write(level: LogLevel, event: string, facts: Readonly<Record<string, unknown>> = {}): void {
    const line = `${JSON.stringify({ time: new Date().toISOString(), level, event, ...facts })}\n`
    try {
      if (this.#isFull(Buffer.byteLength(line))) this.#rotate(Buffer.byteLength(line))
      appendFileSync(this.path, line, { mode: 0o600 })
    } catch {
      // Nobody is told: there is nothing to tell it with.
    }
  }

  /** Whether the file, which others write to as well, has no room for so many bytes more; its folder is there then. */
  #isFull(more: number): boolean {
    const size = statSync(this.path, { throwIfNoEntry: false })?.size
    if (size === undefined) mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    return size !== undefined && size > 0 && size + more > this.mostBytes
  }

  /** Begins another file; where somebody else does that at this moment, the line may go into either. */
  #rotate(more: number): void {
    const lock = this.lock(`${this.path}.lock`)
    try {
      // Asked again under the lock: a file that another has just begun must not take the place of the one before it.
      if (lock !== undefined && this.#isFull(more)) renameSync(this.path, `${this.path}.1`)
    } finally {
      lock?.release()
    }
  }

  /** The last `most` lines of that level, oldest first; throws `logs_unreadable`. */
  async tail(level: LogLevel, most: number | undefined): Promise<string[]> {
    let texts: string[]
    try {
      let before: number | undefined
      do {
        before = this.#file()
        texts = []
        for (const path of [`${this.path}.1`, this.path]) texts.push((await readIfThere(path)) ?? '')
        // What was renamed between the two is in neither text.
      } while (this.#file() !== before)
    } catch (error) {
      throw new Failure('logs_unreadable', `The log "${this.path}" cannot be read: ${(error as Error).message}.`, {
        path: this.path,
      })
    }
    const lines = texts
      .join('')
      .split('\n')
      .filter((line) => line.includes(`"level":"${level}"`))
    return most === undefined ? lines : lines.slice(Math.max(0, lines.length - most))
  }

  /** The number of the present file; undefined where there is none. */
  #file(): number | undefined {
    return statSync(this.path, { throwIfNoEntry: false })?.ino
  }
}
