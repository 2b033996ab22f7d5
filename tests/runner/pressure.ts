/** How many processes wait for a processor, so that no job begins on a machine that has no time for it. */
import { readFileSync } from 'node:fs'

const pollIntervalMs = 100
/** Looks whose average counts, the time in which a job that has just begun shows what it uses. */
const looks = 10

/** Averages what runs or is ready to; 0 where the system tells nothing. */
export class Pressure implements Disposable {
  readonly #seen: number[] = []
  readonly #timer: NodeJS.Timeout

  constructor(private readonly running = runnable) {
    this.#timer = setInterval(() => this.look(), pollIntervalMs)
    this.#timer.unref()
  }

  /** Notes what runs now. */
  look(): void {
    this.#seen.push(this.running())
    if (this.#seen.length > looks) this.#seen.shift()
  }

  /** Processes that run or are ready to, on average over the last second. */
  get average(): number {
    return this.#seen.reduce((sum, each) => sum + each, 0) / Math.max(1, this.#seen.length)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** Of the whole machine (proc(5), stat, procs_running). */
const runnable = (): number => {
  try {
    return Number(/^procs_running (\d+)/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
