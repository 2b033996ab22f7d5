/**
 * Commands in a guest with Linux whose output is given as it comes, and whose input may be: the agent keeps an output for itself
 * until its command has ended, so the command is joined to pipes, and what comes out of them is in files that the agent
 * reads (guest-file-open, guest-file-read).
 */
import { randomBytes } from 'node:crypto'
import { Failure } from '@backlot/contract/failure'
import { type AgentAnswer, type AgentCommand, type AgentTimeouts, askAgentAll } from './agent.ts'
import {
  beginning,
  endInGuest,
  exitCodeOf,
  type GuestCommand,
  type Limits,
  looks,
  type Status,
  silentMs,
  tookTooLong,
} from './guest-exec.ts'
import { feedInGuest } from './guest-input.ts'
import { OutputReader, returnedBy } from './guest-output.ts'
import { joinedTo, marksOutputs, pumps, removePipesCommand, type StreamName, streams } from './guest-pipes.ts'

/** What a command wrote. */
export interface GuestOutput {
  readonly stream: StreamName
  readonly bytes: Uint8Array
}

/** Milliseconds after the end of a command in which its outputs are at their end too, where it left nobody who may write on. */
const outputsEndMs = 500

/** Milliseconds after the end of a command in which something of its outputs is read, or their end is. */
const outputsMoveMs = 60_000

/**
 * Begins a command with the guest's shell, once its agent listens, and gives its output and then its exit status; what it
 * leaves in the background is not waited for. Where the guest has no room for files, the output, as far as the agent keeps it,
 * comes at the end. Throws `agent_unavailable`; the output throws `guest_timeout` and `guest_file_failed` too, what the
 * input throws, and what the signal is aborted with.
 */
export const streamInGuest = async (
  socket: string,
  { command, environment, input }: GuestCommand,
  limits: Limits,
  patience: AgentTimeouts,
): Promise<AsyncGenerator<GuestOutput, number>> => {
  const folder = `/tmp/.backlot-${randomBytes(16).toString('hex')}`
  const [whole, coming] = input instanceof ReadableStream ? [undefined, input] : [input, undefined]
  const hasInput = coming !== undefined
  try {
    const asked = { command: `${joinedTo(folder, hasInput)}\n${command}`, environment, input: whole }
    const beside = { command: pumps(folder, hasInput, limits.timeoutMs / 1000) }
    const both = [beginning('linux', asked), beginning('linux', beside, false)]
    const [pid = 0, pumping = 0] = (await askAgentAll(socket, both, patience)).map(
      (answer) => (returnedBy(answer) as { pid: number }).pid,
    )
    return new Following(socket, { pid, pumping }, folder, patience).follow(command, limits, coming)
  } catch (error) {
    await coming?.cancel(error).catch(() => undefined)
    throw error
  }
}

/** One command, whose output is read while it runs. */
class Following {
  readonly #outputs: Readonly<Record<StreamName, OutputReader>>
  readonly #mark = randomBytes(16).toString('hex')
  /** The command that writes the mark, once it is needed. */
  #marker: number | undefined
  #ended: Status | undefined
  #endedAt = 0
  /** When something of it was read last. */
  #movedAt = performance.now()
  /** Tells who feeds it that it has ended. */
  readonly #over = new AbortController()
  /** Why it cannot be fed. */
  #unfed: unknown

  constructor(
    readonly socket: string,
    readonly begun: { readonly pid: number; readonly pumping: number },
    readonly folder: string,
    readonly patience: AgentTimeouts,
  ) {
    this.#outputs = { stdout: new OutputReader(`${folder}/stdout`), stderr: new OutputReader(`${folder}/stderr`) }
  }

  async *follow(
    command: string,
    { timeoutMs, signal }: Limits,
    input: ReadableStream<Uint8Array> | undefined,
  ): AsyncGenerator<GuestOutput, number> {
    const deadline = performance.now() + timeoutMs
    const fed = input === undefined ? undefined : this.#feed(input)
    try {
      for (let pause: number = looks.firstMs; ; pause = Math.min(looks.longestMs, pause * looks.factor)) {
        const parts = await this.#look()
        yield* parts
        signal?.throwIfAborted()
        if (this.#unfed !== undefined && this.#ended === undefined) throw this.#unfed
        if (this.#isWhole()) return exitCodeOf(this.#ended as Status)
        if (this.#ended !== undefined && this.#hasNoFiles()) {
          if (input !== undefined) throw this.#noRoom()
          yield* keptBy(this.#ended)
          return exitCodeOf(this.#ended)
        }
        if (this.#ended === undefined && performance.now() > deadline) throw tookTooLong(command, timeoutMs)
        await this.#markEnd()
        if (parts.length > 0 || this.#ended !== undefined) pause = looks.firstMs
        if (!this.#all().some(({ isMoving }) => isMoving)) await Bun.sleep(pause)
      }
    } finally {
      this.#over.abort()
      await this.#close().catch(() => undefined)
      if (this.#ended === undefined) await fed
    }
  }

  /** Feeds it until it ends. */
  #feed(input: ReadableStream<Uint8Array>): Promise<void> {
    const { socket, folder } = this
    const feed = { socket, folder, isGone: this.patience.isGone, ended: this.#over.signal }
    return feedInGuest(feed, input).catch((error) => {
      this.#unfed = error
    })
  }

  #all(): OutputReader[] {
    return streams.map((name) => this.#outputs[name])
  }

  #isWhole(): boolean {
    return this.#ended !== undefined && this.#all().every(({ isOver }) => isOver)
  }

  /** Whether the files were not there, which are made before the command begins. */
  #hasNoFiles(): boolean {
    return !this.#all().every(({ hasBegun }) => hasBegun)
  }

  /** What it wrote since it was looked at last, and whether it has ended before that was read. */
  async #look(): Promise<GuestOutput[]> {
    const hadEnded = this.#ended !== undefined
    const asked = streams.map((stream) => ({ stream, questions: this.#outputs[stream].questions(hadEnded) }))
    const commands = asked.flatMap(({ questions }) => questions.map(([, command]) => command))
    const answers = hadEnded ? await this.#ask(commands) : await this.#askWithStatus(commands)
    return asked.flatMap(({ stream, questions }) => {
      const bytes = this.#outputs[stream].hear(questions, answers.splice(0, questions.length))
      return bytes.length === 0 ? [] : [{ stream, bytes }]
    })
  }

  /** Asks how the command does and then the rest: of one that had ended all is there that it wrote to files. */
  async #askWithStatus(commands: readonly AgentCommand[]): Promise<AgentAnswer[]> {
    const [answer, ...answers] = await this.#ask([statusOf(this.begun.pid), ...commands])
    const status = returnedBy(answer) as Status
    if (status.exited) {
      this.#ended = status
      this.#endedAt = performance.now()
      this.#over.abort()
    }
    return answers
  }

  /** Has the end of what the command wrote marked where somebody else may write on. */
  async #markEnd(): Promise<void> {
    const now = performance.now()
    if (this.#all().some(({ isMoving }) => isMoving)) this.#movedAt = now
    if (this.#ended === undefined || now - this.#endedAt < outputsEndMs) return
    if (now - Math.max(this.#movedAt, this.#endedAt) > outputsMoveMs) throw this.#noRoom()
    if (this.#marker === undefined) {
      for (const output of this.#all()) output.expect(this.#mark)
      this.#marker = await this.#begin(marksOutputs(this.folder, this.#mark))
    } else if (this.#marker > 0) {
      const [answer] = await this.#ask([statusOf(this.#marker)])
      const { exited, exitcode } = returnedBy(answer) as Status
      if (exited && exitcode !== 0) throw this.#noRoom()
      if (exited) this.#marker = 0
    }
  }

  #noRoom(): Failure {
    const path = this.folder
    const why = `What the command reads and writes has no room in "${path}" of the guest, or was waited for too long.`
    return new Failure('guest_file_failed', `${why} Make room in /tmp there.`, { path })
  }

  /** Ends the command where it has not ended, and removes its files; nobody waits for that where it has. */
  async #close(): Promise<void> {
    if (this.#ended === undefined) await endInGuest(this.socket, 'linux', this.begun.pid, this.patience.isGone)
    const removed = this.#remove()
    if (this.#ended === undefined) await removed
    else removed.catch(() => undefined)
  }

  async #remove(): Promise<void> {
    const pid = await this.#begin(removePipesCommand(this.folder))
    await this.#ask([...this.#all().flatMap((output) => output.closings()), ...[pid, this.begun.pumping].map(statusOf)])
  }

  async #begin(line: string): Promise<number> {
    const [answer] = await this.#ask([beginning('linux', { command: line }, false)])
    return (returnedBy(answer) as { pid: number }).pid
  }

  async #ask(commands: readonly AgentCommand[]): Promise<AgentAnswer[]> {
    if (commands.length === 0) return []
    const { isGone } = this.patience
    return askAgentAll(this.socket, commands, { until: Date.now() + silentMs, isGone })
  }
}

const statusOf = (pid: number): AgentCommand => ({ execute: 'guest-exec-status', arguments: { pid } })

/** What the agent kept of the output of a command that could not write to files. */
const keptBy = (status: Status): GuestOutput[] => [
  ...keptOutput('stdout', Buffer.from(status['out-data'] ?? '', 'base64'), status['out-truncated']),
  ...keptOutput('stderr', Buffer.from(status['err-data'] ?? '', 'base64'), status['err-truncated']),
]

/** An output that the agent kept, as one that is streamed; where it dropped the rest, the error output says so. */
export const keptOutput = (stream: GuestOutput['stream'], bytes: Uint8Array, isCut = false): GuestOutput[] => [
  ...(bytes.length === 0 ? [] : [{ stream, bytes }]),
  ...(isCut ? [{ stream: 'stderr', bytes: restDropped } as const] : []),
]

const restDropped = Buffer.from(
  '\nbacklot: the guest agent dropped the rest of the output; write so much to a file in the guest.\n',
)
