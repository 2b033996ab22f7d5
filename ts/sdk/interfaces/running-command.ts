/** A command that was started: its output, its end, its input. */
import { fieldsOf } from '../answer.ts'
import { toBase64 } from '../base64.ts'
import type { CallOptions, CommandResult, Fields } from '../basics.ts'
import { withDeadline } from '../deadline.ts'
import { BacklotError } from '../errors.ts'
import type { ServerEvent } from '../transports/events.ts'
import { connectionLost } from '../transports/loss.ts'
import type { Transport } from '../transports/transport.ts'
import { OutputLog } from './output-log.ts'

/** A piece of a command's output. */
export interface CommandOutput {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** A running command: iterated, its output as it comes; disposed, it is killed with all it started. */
export interface Command extends AsyncIterable<CommandOutput>, AsyncDisposable {
  readonly pid: number
  /** Its output by lines, both streams in the order in which they were written. */
  lines(): AsyncIterable<string>
  /** Its end, with the last 16 MiB of each stream. */
  wait(options?: CallOptions): Promise<CommandResult>
  /** Signals it and all it started; `SIGTERM` unless given. */
  kill(signal?: string, options?: CallOptions): Promise<void>
}

/** Characters of output that are kept for whoever reads it, and by how many a reader may be behind before it is waited for. */
const keptLength = 16 * 1024 * 1024
const behindLength = 1024 * 1024

/** Bytes of input that are sent at once. */
const inputBytes = 256 * 1024

/** What is left when the server has told the process. */
export interface StartedCommand {
  readonly pid: number
  readonly events: AsyncGenerator<ServerEvent>
  readonly where: string
  /** Ends the stream, and with it the command. */
  abort(reason: unknown): void
}

/** A running command. */
export class RunningCommand implements Command {
  readonly pid: number
  readonly #log = new OutputLog<CommandOutput>(({ text }) => text.length, keptLength)
  readonly #result: Promise<CommandResult>

  constructor(
    private readonly transport: Transport,
    private readonly started: StartedCommand,
  ) {
    this.pid = started.pid
    this.#result = this.#follow()
    // Who waits is told; who does not need not hear of it.
    this.#result.catch(() => undefined)
  }

  [Symbol.asyncIterator](): AsyncIterator<CommandOutput> {
    return this.#log.read()
  }

  async *lines(): AsyncGenerator<string> {
    const rest: Record<CommandOutput['stream'], string> = { stdout: '', stderr: '' }
    for await (const { stream, text } of this) {
      const lines = (rest[stream] + text).split('\n')
      rest[stream] = lines.pop() ?? ''
      for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
    }
    for (const line of [rest.stdout, rest.stderr]) if (line !== '') yield line
  }

  wait(options?: CallOptions): Promise<CommandResult> {
    return withDeadline(options, `Waiting for command ${this.pid}`, () => this.#result, Number.POSITIVE_INFINITY)
  }

  async kill(signal = 'SIGTERM', options?: CallOptions): Promise<void> {
    try {
      await this.transport.send('command_signal', { pid: this.pid, signal }, options)
    } catch (error) {
      // One that has ended needs no signal.
      if (!BacklotError.is(error) || error.data.serverCode !== 'command_not_found') throw error
    }
  }

  /** Sends what the command reads, to its end. */
  async input(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const send = (more: { data_b64?: string; end?: boolean }) =>
      this.transport.send('command_input', { pid: this.pid, ...more }, { signal, timeoutMs: Number.POSITIVE_INFINITY })
    try {
      for await (const piece of pieces) {
        for (let at = 0; at < piece.byteLength; at += inputBytes) {
          await send({ data_b64: toBase64(piece.subarray(at, at + inputBytes)) })
        }
      }
      await send({ end: true })
    } catch (error) {
      if (BacklotError.is(error) && error.data.serverCode === 'command_not_found') return
      this.started.abort(error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill('SIGKILL').catch(() => undefined)
    this.started.abort(new Error('the command was disposed of'))
    await this.#result.catch(() => undefined)
  }

  async #follow(): Promise<CommandResult> {
    const { events, where } = this.started
    try {
      for await (const { type, data } of events) {
        if (type === 'output') {
          this.#log.add(JSON.parse(data) as CommandOutput)
          await this.#log.room(behindLength)
        } else {
          const result = resultOf(JSON.parse(data) as Fields)
          this.#log.end()
          return result
        }
      }
      throw connectionLost(where, 'the answer ended early')
    } catch (error) {
      this.#log.end(error)
      throw error
    }
  }
}

/** How a command ended, of what the server answered. Throws the error of a failure, such as `command_timeout`. */
export const resultOf = (answer: Fields): CommandResult => {
  const { stdout, stderr, return_code } = fieldsOf(answer)
  return { stdout: String(stdout), stderr: String(stderr), exitCode: Number(return_code) }
}
