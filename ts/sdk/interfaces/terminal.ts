/** Terminals. */
import type { CallOptions } from '../basics.ts'
import { orAborted, withDeadline } from '../deadline.ts'
import { BacklotError, NotFoundError } from '../errors.ts'
import { readFrom } from '../transports/loss.ts'
import { retrying } from '../transports/retry.ts'
import type { Transport } from '../transports/transport.ts'
import { routesFor } from './need-routes.ts'
import { PtyOutput } from './pty-output.ts'
import type { CommandOptions } from './shell.ts'

/** What a terminal shall be. */
export interface TerminalOptions extends Omit<CommandOptions, 'input'> {
  /** Program and arguments. @default 'bash' */
  shell?: string
  /** Columns, 1 to 1000. @default 80 */
  cols?: number
  /** Lines, 1 to 1000. @default 24 */
  rows?: number
}

/** Terminals; what takes a pid throws `pty_not_found`. */
export interface Terminals {
  /** Creates a terminal. */
  create(options?: TerminalOptions): Promise<Terminal>
  /** Creates a terminal, by position. */
  create(shell: string, cols?: number, rows?: number): Promise<Terminal>
  /** Comes back to a terminal, whose last 1 MiB of output comes first. */
  attach(pid: number, options?: CallOptions): Promise<Terminal>
  /** Types into a terminal, control characters included. */
  sendInput(pid: number, data: string, options?: CallOptions): Promise<void>
  /** Sets the size of a terminal. */
  resize(pid: number, cols: number, rows: number, options?: CallOptions): Promise<void>
  /** Ends a terminal; gives its exit code, `null` if killed. */
  close(pid: number, options?: CallOptions): Promise<number | null>
}

/** One terminal: iterated, its output to its end; disposed, it is closed. */
export interface Terminal extends AsyncIterable<string>, AsyncDisposable {
  readonly pid: number
  readonly cols: number
  readonly rows: number
  /** Types into it. */
  sendInput(data: string, options?: CallOptions): Promise<void>
  /** Sets its size. */
  resize(cols: number, rows: number, options?: CallOptions): Promise<void>
  /** The output since the last match, through the next. */
  waitFor(pattern: string | RegExp, options?: CallOptions): Promise<string>
  /** Ends it; gives its exit code, `null` if killed. */
  close(options?: CallOptions): Promise<number | null>
}

/** The terminals behind a transport. */
export const terminalsOf = (transport: Transport): Terminals => {
  const sendInput = async (pid: number, data: string, options?: CallOptions) => {
    await transport.send('terminal_send', { pid, data }, options)
  }
  const resize = async (pid: number, cols: number, rows: number, options?: CallOptions) => {
    await transport.send('terminal_resize', { pid, cols, rows }, options)
  }
  const close = async (pid: number, options?: CallOptions) => {
    const { result, killed } = await transport.send('terminal_close', { pid }, options)
    return killed ? null : result
  }
  const verbs = { sendInput, resize, close }
  return {
    ...verbs,
    async create(given: string | TerminalOptions = {}, byPosition?: number, rowsByPosition?: number) {
      const options = typeof given === 'string' ? { shell: given, cols: byPosition, rows: rowsByPosition } : given
      const { shell = 'bash', cols = 80, rows = 24, cwd, env, ...limits } = { ...options } as TerminalOptions
      const place = { ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env: { ...env } }) }
      // Without a name the server starts the usual shell as one that is talked to.
      const program = shell === 'bash' ? {} : { shell }
      const { pid } = await transport.send('terminal_create', { ...program, cols, rows, ...place }, limits)
      return new OpenTerminal(transport, verbs, { pid, cols, rows })
    },
    async attach(pid, options) {
      const found = await withDeadline(options, `Terminal ${pid}`, async (signal) => {
        const server = routesFor(transport, 'Coming back to a terminal')
        return retrying(true, signal, async () => {
          const response = await server.fetch(`/pty/${pid}`, { signal })
          return readFrom(server.name, signal, response.json())
        })
      })
      const { cols, rows } = found as { cols: number; rows: number }
      return new OpenTerminal(transport, verbs, { pid, cols, rows })
    },
  }
}

type Verbs = Pick<Terminals, 'sendInput' | 'resize' | 'close'>

class OpenTerminal implements Terminal {
  readonly pid: number
  cols: number
  rows: number
  /** Characters through the last match. */
  #matched = 0
  #output: PtyOutput | undefined
  #closing: Promise<number | null> | undefined

  constructor(
    private readonly transport: Transport,
    private readonly verbs: Verbs,
    { pid, cols, rows }: { pid: number; cols: number; rows: number },
  ) {
    this.pid = pid
    this.cols = cols
    this.rows = rows
  }

  sendInput(data: string, options?: CallOptions): Promise<void> {
    return this.verbs.sendInput(this.pid, data, options)
  }

  async resize(cols: number, rows: number, options?: CallOptions): Promise<void> {
    await this.verbs.resize(this.pid, cols, rows, options)
    this.cols = cols
    this.rows = rows
  }

  waitFor(pattern: string | RegExp, options?: CallOptions): Promise<string> {
    const shown = typeof pattern === 'string' ? `"${pattern}"` : String(pattern)
    return withDeadline(options, `Waiting for ${shown} in terminal ${this.pid}`, async (signal) => {
      const output = this.#reading()
      for (;;) {
        signal.throwIfAborted()
        const seen = output.length
        const text = output.after(this.#matched)
        const end = endOfMatch(text, pattern)
        if (end !== undefined) {
          this.#matched = seen - text.length + end
          return text.slice(0, end)
        }
        if (!(await orAborted(signal, output.more(seen)))) throw hasEnded(this.pid, output.exitCode, shown)
      }
    })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    const output = this.#reading()
    for (let position = 0; await output.more(position); ) {
      const text = output.after(position)
      position = output.length
      yield text
    }
  }

  close(options?: CallOptions): Promise<number | null> {
    this.#closing ??= this.verbs.close(this.pid, options).finally(() => this.#output?.stop())
    const closing = this.#closing
    closing.catch(() => {
      // One that failed may be tried again.
      this.#closing = undefined
    })
    return closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.close()
    } catch (error) {
      if (!BacklotError.is(error) || error.code !== 'pty_not_found') throw error
    }
  }

  #reading(): PtyOutput {
    this.#output ??= new PtyOutput(routesFor(this.transport, 'Reading the output of a terminal'), this.pid)
    return this.#output
  }
}

/** Where the first match ends; undefined where there is none. */
const endOfMatch = (text: string, pattern: string | RegExp): number | undefined => {
  if (typeof pattern === 'string') {
    const at = text.indexOf(pattern)
    return at === -1 ? undefined : at + pattern.length
  }
  const match = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).exec(text)
  return match === null ? undefined : match.index + match[0].length
}

const hasEnded = (pid: number, exitCode: number | undefined, shown: string): NotFoundError =>
  new NotFoundError(
    'pty_not_found',
    `Terminal ${pid} ended${exitCode === undefined ? '' : ` with ${exitCode}`} before ${shown} came; create another.`,
    { data: { pid, exitCode: exitCode ?? null } },
  )
