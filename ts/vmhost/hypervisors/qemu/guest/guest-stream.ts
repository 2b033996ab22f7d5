/**
 * Commands in a guest with Linux whose output is given as it comes: the agent keeps an output for itself until its command
 * has ended, so the command writes to files, which the agent reads (guest-file-open, guest-file-read).
 */
import { randomBytes } from 'node:crypto'
import { Failure } from '@backlot/contract/failure'
import { type AgentAnswer, type AgentCommand, askAgentAll, type Patience } from './agent.ts'
import {
  beginInGuest,
  endInGuest,
  exitCodeOf,
  type GuestCommand,
  type Limits,
  looks,
  type Status,
  silentMs,
  tookTooLong,
} from './guest-exec.ts'

/** What a command wrote. */
export interface GuestOutput {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

/** Bytes that are read at a time. */
const partBytes = 256 * 1024

/** The outputs, in the order in which their files are made. */
const streams = ['stdout', 'stderr'] as const

/**
 * Begins a command with the guest's shell, once its agent listens, and gives its output and then its exit status; what it
 * leaves in the background is not waited for. Where the guest has no room for files, the output, as far as the agent keeps it,
 * comes at the end. Throws `agent_unavailable`; the output throws `guest_timeout` too, and what the signal is aborted with.
 */
export const streamInGuest = async (
  socket: string,
  { command, input }: GuestCommand,
  limits: Limits,
  patience: Patience,
): Promise<AsyncGenerator<GuestOutput, number>> => {
  const folder = `/tmp/.backlot-${randomBytes(16).toString('hex')}`
  const line = `${redirected(folder)}\n${command}`
  const pid = await beginInGuest(socket, 'linux', { command: line, input }, patience)
  return new Following(socket, pid, folder, patience).follow(command, limits)
}

/** Words for a shell that writes to files from then on, where it can make them. */
const redirected = (folder: string): string =>
  `if { mkdir -m 700 ${folder} && true >${folder}/stdout && true >${folder}/stderr; } 2>/dev/null
then exec >${folder}/stdout 2>${folder}/stderr
fi`

/** The output of one command, read while it runs. */
class Following {
  /** By which the agent knows the files, once they are open. */
  #handles: readonly number[] = []
  /** What removes their names. */
  #remover: number | undefined
  #ended: Status | undefined

  constructor(
    readonly socket: string,
    readonly pid: number,
    readonly folder: string,
    readonly patience: Patience,
  ) {}

  async *follow(command: string, { timeoutMs, signal }: Limits): AsyncGenerator<GuestOutput, number> {
    const deadline = performance.now() + timeoutMs
    try {
      for (let pause: number = looks.firstMs; ; pause = Math.min(looks.longestMs, pause * looks.factor)) {
        const hadOpened = this.#handles.length > 0
        const parts = hadOpened ? await this.#read() : await this.#open()
        yield* parts
        signal?.throwIfAborted()
        if (parts.length > 0) pause = looks.firstMs
        if (this.#ended !== undefined) {
          const isWhole = hadOpened ? parts.length === 0 : this.#handles.length === 0
          if (!isWhole) continue
          if (!hadOpened) yield* keptBy(this.#ended)
          return exitCodeOf(this.#ended)
        }
        if (performance.now() > deadline) throw tookTooLong(command, timeoutMs)
        // Neither a file that was just opened is waited for, nor who has more to say than is read at a time.
        const hasMore = parts.some(({ bytes }) => bytes.length === partBytes)
        if (hasMore || hadOpened !== this.#handles.length > 0) continue
        await Bun.sleep(pause)
      }
    } finally {
      await this.#close().catch(() => undefined)
    }
  }

  /** Opens the files, if the command has made them; it may take a moment. */
  async #open(): Promise<readonly []> {
    const opening = streams.map((name) => ({
      execute: 'guest-file-open',
      arguments: { path: `${this.folder}/${name}`, mode: 'r' },
    }))
    const opened = (await this.#askWithStatus(opening)).flatMap((each) =>
      'returned' in each ? [each.returned as number] : [],
    )
    if (opened.length === streams.length) this.#handles = opened
    else await this.#ask(opened.map(closing))
    return []
  }

  /** What it wrote since it was read last; nothing follows where it had ended and there is none. */
  async #read(): Promise<GuestOutput[]> {
    const reading = this.#handles.map((handle) => ({
      execute: 'guest-file-read',
      arguments: { handle, count: partBytes },
    }))
    // Who has them open needs no names of them, and nothing is left then, whoever dies.
    const parameters = { path: '/bin/rm', arg: ['-rf', this.folder], 'capture-output': false }
    const removing = this.#remover === undefined ? [{ execute: 'guest-exec', arguments: parameters }] : []
    const answers = await this.#askWithStatus([...reading, ...removing])
    const removed = answers.at(reading.length)
    if (removed !== undefined) this.#remover = (returnedBy(removed) as { pid: number }).pid
    return streams.flatMap((stream, index) => {
      const { 'buf-b64': base64 = '' } = returnedBy(answers[index]) as { 'buf-b64'?: string }
      return base64 === '' ? [] : [{ stream, bytes: Buffer.from(base64, 'base64') }]
    })
  }

  /** Asks how the command does, if that is open, and then the rest: one that had ended has written all that is read. */
  async #askWithStatus(commands: readonly AgentCommand[]): Promise<AgentAnswer[]> {
    if (this.#ended !== undefined) return this.#ask(commands)
    const [answer, ...answers] = await this.#ask([statusOf(this.pid), ...commands])
    const status = returnedBy(answer) as Status
    if (status.exited) this.#ended = status
    return answers
  }

  /** Ends the command where it has not ended, and lets the agent forget what it knows. */
  async #close(): Promise<void> {
    if (this.#ended === undefined) await endInGuest(this.socket, 'linux', this.pid, this.patience.isGone)
    const forgotten = this.#remover === undefined ? [] : [statusOf(this.#remover)]
    await this.#ask([...this.#handles.map(closing), ...forgotten])
  }

  async #ask(commands: readonly AgentCommand[]): Promise<AgentAnswer[]> {
    if (commands.length === 0) return []
    const { isGone } = this.patience
    return askAgentAll(this.socket, commands, { until: Date.now() + silentMs, isGone })
  }
}

const statusOf = (pid: number): AgentCommand => ({ execute: 'guest-exec-status', arguments: { pid } })

const closing = (handle: number): AgentCommand => ({ execute: 'guest-file-close', arguments: { handle } })

const returnedBy = (answer: AgentAnswer | undefined): unknown => {
  if (answer !== undefined && 'returned' in answer) return answer.returned
  throw new Failure('agent_unavailable', `The guest agent lost a command: ${answer?.refused}. Start it again.`)
}

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
