/** Commands in a guest through its agent (guest-exec, guest-exec-status). */
import { Failure } from '@backlot/contract/failure'
import { shellText } from '@backlot/contract/text/shell-text'
import { type AgentCommand, type AgentTimeouts, askAgent } from './agent.ts'

/** What a command in a guest gave. */
export interface GuestResult {
  readonly stdout: string
  readonly stderr: string
  /** Whether the agent dropped the rest. */
  readonly stdoutTruncated: boolean
  readonly stderrTruncated: boolean
  readonly exitCode: number
}

/**
 * A command, the variables that it has beside those of the agent, and what it reads: whole, or as it comes. Variables and input
 * that comes are for guests with Linux.
 */
export interface GuestCommand {
  readonly command: string
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly input?: string | ReadableStream<Uint8Array> | undefined
}

/** The same with what it reads as the agent is given it. */
type WholeCommand = Pick<GuestCommand, 'command'> & { readonly input?: string | undefined }

/** What ends a command that has not ended by itself. */
export interface Limits {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** The shell of each guest system: its path, and what stands before a command. */
const shells: Readonly<Record<string, readonly [string, string]>> = {
  windows: ['cmd.exe', '/C'],
  linux: ['/bin/sh', '-c'],
}

const shellOf = (guestOs: string): readonly [string, string] => shells[guestOs] ?? ['/bin/sh', '-c']

/** Bytes that a command reads, as the agent is given them. */
export const inputData = (input: string | Uint8Array | undefined): object =>
  input === undefined ? {} : { 'input-data': Buffer.from(input).toString('base64') }

/** A word for the shell of a guest. */
export const quoted = shellText

/**
 * The command with its variables in front of what it reads, for a command line can be seen by all users of the guest. The
 * shell takes those lines and no byte more.
 */
const withVariables = ({ command, environment = {}, input: given }: GuestCommand): WholeCommand => {
  const input = typeof given === 'string' ? given : undefined
  const variables = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}\n`)
  if (variables.length === 0) return { command, input }
  const text = variables.join('')
  const take = `while [ $n -lt ${text.split('\n').length - 1} ]; do IFS= read -r l; printf '%s\\n' "$l"; n=$((n+1)); done`
  return { command: `eval "$(n=0; ${take})"\n${command}`, input: text + (input ?? '') }
}

/** Milliseconds between two looks whether the command has ended: few at first, for most are short. */
export const looks = { firstMs: 20, longestMs: 500, factor: 1.4 } as const

/** Milliseconds that an agent may be silent that has taken a command: the guest is busy with that. */
export const silentMs = 30_000

/** Milliseconds for a command that took too long to be gone; a busy guest takes a while. */
const endsWithinMs = 10_000

/** What the agent says of a command (guest-exec-status). */
export interface Status {
  readonly exited: boolean
  readonly exitcode?: number
  readonly signal?: number
  readonly 'out-data'?: string
  readonly 'err-data'?: string
  readonly 'out-truncated'?: boolean
  readonly 'err-truncated'?: boolean
}

/**
 * Begins a command with the guest's shell, once its agent listens, and gives its process. Throws `agent_unavailable`, with
 * `hasBegun` in its data where the command may run all the same.
 */
export const beginInGuest = async (
  socket: string,
  guestOs: string,
  asked: GuestCommand,
  patience: AgentTimeouts,
): Promise<number> => {
  const { execute, arguments: given } = beginning(guestOs, asked)
  const { pid } = (await askAgent(socket, execute, given, patience)) as { pid: number }
  return pid
}

/** What begins a command with the guest's shell. */
export const beginning = (guestOs: string, asked: GuestCommand, isOutputKept = true): AgentCommand => {
  const [path, option] = shellOf(guestOs)
  const { command, input } = withVariables(asked)
  const parameters = { path, arg: [option, command], 'capture-output': isOutputKept, ...inputData(input) }
  return { execute: 'guest-exec', arguments: parameters }
}

/** A command that has begun. */
export interface StartedCommand {
  readonly pid: number
  readonly command: string
}

/**
 * What a command gave once it has ended. Throws `agent_unavailable`, and, after ending the command, `guest_timeout` and what
 * the signal is aborted with.
 */
export const resultInGuest = async (
  socket: string,
  guestOs: string,
  { pid, command }: StartedCommand,
  { timeoutMs, signal }: Limits,
  isGone: AgentTimeouts['isGone'],
): Promise<GuestResult> => {
  const status = await endOf(socket, pid, timeoutMs, isGone, signal)
  if (status !== undefined) return resultOf(status)
  await endInGuest(socket, guestOs, pid, isGone)
  signal?.throwIfAborted()
  throw tookTooLong(command, timeoutMs)
}

/** How a command ended, if it did within that time and before the signal was aborted. Throws `agent_unavailable`. */
const endOf = async (
  socket: string,
  pid: number,
  withinMs: number,
  isGone: AgentTimeouts['isGone'],
  signal?: AbortSignal,
): Promise<Status | undefined> => {
  const deadline = performance.now() + withinMs
  for (let pause: number = looks.firstMs; ; pause = Math.min(looks.longestMs, pause * looks.factor)) {
    const heard = { until: Date.now() + silentMs, isGone }
    const status = (await askAgent(socket, 'guest-exec-status', { pid }, heard)) as Status
    if (status.exited) return status
    if (performance.now() > deadline || signal?.aborted === true) return undefined
    await Bun.sleep(pause)
  }
}

/**
 * Ends a command and all below it; who is told that it was ended finds nothing of it. An agent that others ask, too, is waited
 * for as long as one that has taken a command.
 */
export const endInGuest = async (
  socket: string,
  guestOs: string,
  pid: number,
  isGone: AgentTimeouts['isGone'],
): Promise<void> => {
  const [path, option] = shellOf(guestOs)
  const line = guestOs === 'windows' ? `taskkill /F /T /PID ${pid}` : endTree(pid)
  try {
    const heard = { until: Date.now() + silentMs, isGone }
    await askAgent(socket, 'guest-exec', { path, arg: [option, line], 'capture-output': false }, heard)
    await endOf(socket, pid, endsWithinMs, isGone)
  } catch {
    // An agent that has gone has taken its commands with it.
  }
}

/** That a command was ended, and what to do about it. */
export const tookTooLong = (command: string, timeoutMs: number): Failure =>
  new Failure(
    'guest_timeout',
    `The command did not end in ${timeoutMs / 1000} s and was ended. Allow it more with \`timeoutSeconds\`, or let it run in the background of the guest.`,
    { command, timeoutSeconds: timeoutMs / 1000 },
  )

/**
 * Words for a shell that end a process and all below it. Each is held before its children are looked for, so that it
 * begins no more of them. The agent's children share its process group, which must live.
 */
const endTree = (pid: number): string =>
  'end() { kill -STOP "$1"; ' +
  'for each in $(grep -ls "^PPid:[[:space:]]*$1\\$" /proc/[0-9]*/status | cut -d/ -f3); do end "$each"; done; ' +
  `kill -KILL "$1"; }; end ${pid}`

const resultOf = (status: Status): GuestResult => ({
  stdout: text(status['out-data']),
  stderr: text(status['err-data']),
  stdoutTruncated: status['out-truncated'] ?? false,
  stderrTruncated: status['err-truncated'] ?? false,
  exitCode: exitCodeOf(status),
})

/** The exit status of a command that has ended, as shells tell of signals. */
export const exitCodeOf = ({ exitcode, signal = 0 }: Status): number => exitcode ?? 128 + signal

const text = (base64 = ''): string => Buffer.from(base64, 'base64').toString()
