/** One terminal: a program on a pseudo-terminal (pty(7)), and what it wrote lately. */
import { constants } from 'node:os'
import { terminalLimits } from '@backlot/contract/computer/limits'
import { endProcesses, newMark } from '../processes.ts'

export interface TerminalOptions {
  /** What the shell runs; the shell itself when absent. */
  readonly command?: string | undefined
  readonly cols: number
  readonly rows: number
  readonly cwd: string
  /** Variables beside those of this process. */
  readonly env: Readonly<Record<string, string>>
}

/** Hears what a terminal writes and when it ends. */
export interface TerminalListener {
  /** Bytes, and how many the terminal has written with them. */
  output(bytes: Uint8Array, until: number): void
  exit(code: number): void
}

/** Event-loop turns in which what a program wrote before its end is read. */
const turns = 3

/** A program that runs, or has ended. */
export class Terminal {
  readonly command: string | undefined
  readonly startedAt = new Date()
  readonly #child: Bun.Subprocess & { readonly terminal: Pty }
  readonly #mark = newMark()
  readonly #listeners = new Set<TerminalListener>()
  #kept: Uint8Array[] = []
  #keptBytes = 0
  #written = 0
  #exitCode: number | undefined
  /** Settles with the exit status, 128 + N where signal N ended it, when its output has been told. */
  readonly exited: Promise<number>

  constructor(options: TerminalOptions) {
    const { command, cols, rows, cwd, env } = options
    this.command = command
    this.cols = cols
    this.rows = rows
    const words = command === undefined ? [shell, '-i'] : [shell, '-c', command]
    this.#child = Bun.spawn(words, {
      cwd,
      env: { ...process.env, TERM: 'xterm-256color', COLORTERM: 'truecolor', ...env, ...this.#mark },
      terminal: { cols, rows, name: 'xterm-256color', data: (_, bytes) => this.#take(bytes) },
    }) as Bun.Subprocess & { readonly terminal: Pty }
    this.exited = this.#end()
  }

  cols: number
  rows: number

  get pid(): number {
    return this.#child.pid
  }

  /** Undefined while it runs. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  /** Sends input as it is; what is sent after its end is lost. */
  write(bytes: string | Uint8Array): void {
    if (this.#exitCode === undefined) this.#child.terminal.write(bytes)
  }

  resize(cols: number, rows: number): void {
    this.cols = cols
    this.rows = rows
    if (this.#exitCode === undefined) this.#child.terminal.resize(cols, rows)
  }

  /** Ends it and all that runs in it; gives the exit status. */
  async close(): Promise<number> {
    if (this.#exitCode === undefined) await endProcesses(this.pid, this.#mark)
    return this.exited
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

  #take(bytes: Uint8Array): void {
    // The buffer is used again after the call.
    const own = bytes.slice()
    this.#written += own.byteLength
    this.#kept.push(own)
    this.#keptBytes += own.byteLength
    while (this.#keptBytes - (this.#kept[0]?.byteLength ?? 0) >= terminalLimits.keptBytes) {
      this.#keptBytes -= this.#kept.shift()?.byteLength ?? 0
    }
    for (const listener of [...this.#listeners]) listener.output(own, this.#written)
  }

  async #end(): Promise<number> {
    const status = await this.#child.exited
    // What it wrote last is in the terminal still; its end may not come, where something in the background holds it.
    for (let turn = 0, before = -1; turn < turns || before !== this.#written; turn++) {
      before = this.#written
      await new Promise((settle) => setImmediate(settle))
    }
    const { signalCode } = this.#child
    const code = signalCode === null ? status : 128 + constants.signals[signalCode as NodeJS.Signals]
    this.#exitCode = code
    for (const listener of [...this.#listeners]) listener.exit(code)
    this.#listeners.clear()
    this.#child.terminal.close()
    return code
  }
}

/** What Bun gives a program on a pseudo-terminal. */
interface Pty {
  write(data: string | Uint8Array): unknown
  resize(cols: number, rows: number): void
  close(): void
}

const shell = Bun.which('bash', { PATH: '/bin:/usr/bin' }) ?? '/bin/sh'
