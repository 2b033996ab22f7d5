/** A program on a pseudo-terminal (pty(7)), of this machine or of a device. */

export interface TerminalOptions {
  /** What the shell runs; the shell itself when absent. */
  readonly command?: string | undefined
  readonly cols: number
  readonly rows: number
  /** The folder as its caller names it; the home folder when absent. */
  readonly cwd?: string | undefined
  /** Variables beside those that all programs there have. */
  readonly env: Readonly<Record<string, string>>
}

/** A program that runs, or has ended. */
export interface TerminalProgram {
  readonly pid: number
  /** Settles with the exit status, 128 + N where signal N ended it, when its output has been told. */
  readonly exited: Promise<number>
  /** Sends input as it is; not after its end. */
  write(bytes: string | Uint8Array): void
  /** Not after its end. */
  resize(cols: number, rows: number): void
  /** Ends it and all that runs in it. */
  end(): Promise<void>
}

/** Starts one, which gives its output to `take`: bytes that are the taker's own. */
export type StartProgram = (options: TerminalOptions, take: (bytes: Uint8Array) => void) => Promise<TerminalProgram>
