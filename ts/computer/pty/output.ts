/** What a terminal wrote lately, and who hears what it writes. */
import { terminalLimits } from '@backlot/contract/computer/limits'

/** Hears what a terminal writes and when it ends. */
export interface TerminalListener {
  /** Bytes, and how many the terminal has written with them. */
  output(bytes: Uint8Array, until: number): void
  exit(code: number): void
}

export class TerminalOutput {
  readonly #listeners = new Set<TerminalListener>()
  #kept: Uint8Array[] = []
  #keptBytes = 0
  #written = 0
  #exitCode: number | undefined

  /** Undefined while it may write. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  take(bytes: Uint8Array): void {
    this.#written += bytes.byteLength
    this.#kept.push(bytes)
    this.#keptBytes += bytes.byteLength
    while (this.#keptBytes - (this.#kept[0]?.byteLength ?? 0) >= terminalLimits.keptBytes) {
      this.#keptBytes -= this.#kept.shift()?.byteLength ?? 0
    }
    for (const listener of [...this.#listeners]) listener.output(bytes, this.#written)
  }

  /** Nothing more comes. */
  end(code: number): void {
    this.#exitCode = code
    for (const listener of [...this.#listeners]) listener.exit(code)
    this.#listeners.clear()
  }

  /**
   * Tells a listener all that is kept after the first `after` bytes, and then all that comes; gives what ends that.
   * One that comes after the end is told the end.
   */
  follow(listener: TerminalListener, after = 0): () => void {
    let until = this.#written - this.#keptBytes
    for (const bytes of this.#kept) {
      until += bytes.byteLength
      if (until > after) listener.output(bytes.subarray(Math.max(0, bytes.byteLength - (until - after))), until)
    }
    if (this.#exitCode === undefined) this.#listeners.add(listener)
    else listener.exit(this.#exitCode)
    return () => void this.#listeners.delete(listener)
  }
}
