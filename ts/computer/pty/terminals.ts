/** The terminals of a server, by process. */
import { terminalLimits as limits } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import { startLocalProgram } from './local-program.ts'
import type { StartProgram } from './program.ts'
import { Terminal } from './terminal.ts'

/** What a caller asks a terminal to be. */
export interface NewTerminal {
  readonly command?: string | undefined
  readonly cols?: number | undefined
  readonly rows?: number | undefined
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** All that were started; those that ended are kept for a while, so that who comes late learns how. */
export class Terminals implements AsyncDisposable {
  readonly #all = new Map<number, Terminal>()
  readonly #starting = new Set<Promise<Terminal>>()
  #hasEnded = false

  /** Terminals of this machine, or of where `start` starts their programs. */
  constructor(private readonly start: StartProgram = startLocalProgram) {}

  /** Starts one. Throws `too_many_terminals`. */
  async create({ command, cols = limits.cols, rows = limits.rows, cwd, env = {} }: NewTerminal): Promise<Terminal> {
    const running = [...this.#all.values()].filter(({ exitCode }) => exitCode === undefined)
    if (running.length + this.#starting.size >= limits.most) {
      throw new Failure('too_many_terminals', `${limits.most} terminals run already; close one.`)
    }
    const starting = Terminal.start(this.start, { command, cols, rows, cwd, env })
    this.#starting.add(starting)
    try {
      const terminal = await starting
      this.#all.set(terminal.pid, terminal)
      void terminal.exited.then(() => this.#forgetOldest())
      if (this.#hasEnded) await terminal.close()
      return terminal
    } finally {
      this.#starting.delete(starting)
    }
  }

  /** The terminal of a process. Throws `terminal_unknown`. */
  find(pid: number): Terminal {
    const terminal = this.#all.get(pid)
    if (terminal !== undefined) return terminal
    throw new Failure('terminal_unknown', `There is no terminal ${pid}; POST /pty starts one.`, { pid })
  }

  /** Ends all that run, those that are starting too. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true
    await Promise.allSettled(this.#starting)
    await Promise.all([...this.#all.values()].map((terminal) => terminal.close()))
    this.#all.clear()
  }

  #forgetOldest(): void {
    const ended = [...this.#all].filter(([, { exitCode }]) => exitCode !== undefined)
    for (const [pid] of ended.slice(0, Math.max(0, ended.length - limits.keptAfterEnd))) this.#all.delete(pid)
  }
}
