/** One terminal: a program on a pseudo-terminal, and what it wrote lately. */
import { type TerminalListener, TerminalOutput } from './output.ts'
import type { StartProgram, TerminalOptions, TerminalProgram } from './program.ts'

/** A program that runs, or has ended. */
export class Terminal {
  readonly command: string | undefined
  readonly startedAt = new Date()
  cols: number
  rows: number
  /** Settles with the exit status, 128 + N where signal N ended it, when its output has been told. */
  readonly exited: Promise<number>

  private constructor(
    private readonly program: TerminalProgram,
    private readonly output: TerminalOutput,
    { command, cols, rows }: TerminalOptions,
  ) {
    this.command = command
    this.cols = cols
    this.rows = rows
    this.exited = program.exited.then((code) => {
      output.end(code)
      return code
    })
  }

  static async start(start: StartProgram, options: TerminalOptions): Promise<Terminal> {
    const output = new TerminalOutput()
    return new Terminal(await start(options, (bytes) => output.take(bytes)), output, options)
  }

  get pid(): number {
    return this.program.pid
  }

  /** Undefined while it runs. */
  get exitCode(): number | undefined {
    return this.output.exitCode
  }

  /** Sends input as it is; what is sent after its end is lost. */
  write(bytes: string | Uint8Array): void {
    if (this.exitCode === undefined) this.program.write(bytes)
  }

  resize(cols: number, rows: number): void {
    this.cols = cols
    this.rows = rows
    if (this.exitCode === undefined) this.program.resize(cols, rows)
  }

  /** Ends it and all that runs in it; gives the exit status. */
  async close(): Promise<number> {
    if (this.exitCode === undefined) await this.program.end()
    return this.exited
  }

  /** Tells a listener what is kept of its output, and what comes; gives what ends that. */
  follow(listener: TerminalListener, after = 0): () => void {
    return this.output.follow(listener, after)
  }
}
