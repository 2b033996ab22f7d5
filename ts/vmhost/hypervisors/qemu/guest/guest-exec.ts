/** Commands in a guest through its agent (guest-exec, guest-exec-status). */
import { Failure } from '@backlot/contract/failure'
import { askAgent, type Patience } from './agent.ts'

/** What a command in a guest gave. */
export interface GuestResult {
  readonly stdout: string
  readonly stderr: string
  /** Whether the agent dropped the rest. */
  readonly stdoutTruncated: boolean
  readonly stderrTruncated: boolean
  readonly exitCode: number
}

/** A command, and what it reads. */
export interface GuestCommand {
  readonly command: string
  readonly input?: string | undefined
}

/** The shell of each guest system: its path, and what stands before a command. */
const shells: Readonly<Record<string, readonly [string, string]>> = {
  windows: ['cmd.exe', '/C'],
  linux: ['/bin/sh', '-c'],
}

/** Milliseconds between two looks whether the command has ended: few at first, for most are short. */
const looks = { firstMs: 20, longestMs: 500, factor: 1.4 } as const

/** Milliseconds that an agent may be silent that has taken a command: the guest is busy with that. */
const silentMs = 30_000

/** Milliseconds for a command that took too long to be gone; a busy guest takes a while. */
const endsWithinMs = 10_000

interface Status {
  readonly exited: boolean
  readonly exitcode?: number
  readonly signal?: number
  readonly 'out-data'?: string
  readonly 'err-data'?: string
  readonly 'out-truncated'?: boolean
  readonly 'err-truncated'?: boolean
}

/**
 * Runs a command with the guest's shell, once its agent listens. Throws `agent_unavailable`, and `guest_timeout` after
 * ending what took too long.
 */
export const execInGuest = async (
  socket: string,
  guestOs: string,
  { command, input }: GuestCommand,
  timeoutMs: number,
  patience: Patience,
): Promise<GuestResult> => {
  const [path, option] = shells[guestOs] ?? ['/bin/sh', '-c']
  const start = (line: string, isKept: boolean, patience?: Patience) => {
    const data = isKept && input !== undefined ? { 'input-data': Buffer.from(input).toString('base64') } : {}
    const parameters = { path, arg: [option, line], 'capture-output': isKept, ...data }
    return askAgent(socket, 'guest-exec', parameters, patience) as Promise<{ pid: number }>
  }
  const { pid } = await start(command, true, patience)
  /** How the command ended, if it did within that time. */
  const ended = async (withinMs: number): Promise<Status | undefined> => {
    const deadline = performance.now() + withinMs
    for (let pause: number = looks.firstMs; ; pause = Math.min(looks.longestMs, pause * looks.factor)) {
      const heard = { until: Date.now() + silentMs, isGone: patience.isGone }
      const status = (await askAgent(socket, 'guest-exec-status', { pid }, heard)) as Status
      if (status.exited) return status
      if (performance.now() > deadline) return undefined
      await Bun.sleep(pause)
    }
  }
  const status = await ended(timeoutMs)
  if (status !== undefined) return resultOf(status)
  try {
    await start(guestOs === 'windows' ? `taskkill /F /T /PID ${pid}` : endTree(pid), false)
    // Who is told that it was ended finds nothing of it.
    await ended(endsWithinMs)
  } catch {
    // An agent that has gone has taken its commands with it.
  }
  throw new Failure(
    'guest_timeout',
    `The command did not end in ${timeoutMs / 1000} s and was ended. Allow it more with \`timeoutSeconds\`, or let it run in the background of the guest.`,
    { command, timeoutSeconds: timeoutMs / 1000 },
  )
}

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
  exitCode: status.exitcode ?? 128 + (status.signal ?? 0),
})

const text = (base64 = ''): string => Buffer.from(base64, 'base64').toString()
