/** The log of the service: one JSON line for each event, in two files that take turns. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { readIfThere } from './durable.ts'

/** How much an event matters. */
export type Level = 'info' | 'error'

/** The file; the one before it ends with `.1`. */
export class LogFile {
  #bytes: number | undefined

  constructor(
    readonly path: string,
    readonly mostBytes: number,
  ) {}

  /** Adds a line; a log that cannot be written keeps nobody from their work. */
  write(level: Level, event: string, facts: Readonly<Record<string, unknown>> = {}): void {
    const line = `${JSON.stringify({ time: new Date().toISOString(), level, event, ...facts })}\n`
    try {
      this.#rotate(Buffer.byteLength(line))
      appendFileSync(this.path, line, { mode: 0o600 })
    } catch {
      this.#bytes = undefined
    }
  }

  #rotate(more: number): void {
    if (this.#bytes === undefined) {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
      this.#bytes = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0
    }
    if (this.#bytes > 0 && this.#bytes + more > this.mostBytes) {
      renameSync(this.path, `${this.path}.1`)
      this.#bytes = 0
    }
    this.#bytes += more
  }

  /** The last `most` lines of that level, oldest first; throws `logs_unreadable`. */
  async tail(level: Level, most: number | undefined): Promise<string[]> {
    const texts: string[] = []
    try {
      for (const path of [`${this.path}.1`, this.path]) texts.push((await readIfThere(path)) ?? '')
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
}
