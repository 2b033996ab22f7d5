/** Runs a shell command: its output, its end, and the end of all its processes when its time is over. */
import { constants } from 'node:os'
import { shellOutputLength } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import type { Report } from '../backend.ts'
import { endProcesses, newMark } from '../processes.ts'
import { type EndedBy, stopAtDeadline } from './limits.ts'
import { Output } from './output.ts'
import { begin } from './running.ts'

export interface ShellOptions {
  readonly command: string
  readonly cwd: string
  /** Variables beside those of this process. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string | undefined
  /** Whether what it reads comes later, by `writeInput`. */
  readonly isInputOpen: boolean
  /** Milliseconds until all its processes are ended; none when undefined. */
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal
  readonly progress: Report | undefined
}

export interface ShellResult {
  readonly stdout: string
  readonly stderr: string
  /** 128 + N where signal N ended it, as a shell says it. */
  readonly status: number
  /** Whether an output was longer than is kept, which is its end then. */
  readonly truncated: boolean
}

/**
 * Runs it and settles when the shell ends, whatever it leaves in the background. Throws `command_timed_out` with what it
 * wrote, and the signal's reason; then none of its processes is left.
 */
export const runShell = async (options: ShellOptions): Promise<ShellResult> => {
  const { command, cwd, timeoutMs, signal, progress } = options
  signal.throwIfAborted()
  const mark = newMark()
  const child = Bun.spawn([shell, '-c', command], {
    cwd,
    env: { ...process.env, ...options.env, ...mark },
    stdin: options.isInputOpen
      ? 'pipe'
      : options.stdin === undefined
        ? 'ignore'
        : new TextEncoder().encode(options.stdin),
    stdout: 'pipe',
    stderr: 'pipe',
    // A session of its own, so that its processes are told from those of others.
    detached: true,
  })
  const running = begin(child, mark)
  await progress?.({ pid: child.pid })
  const outputs = {
    stdout: new Output(child.stdout, shellOutputLength, (text) => progress?.({ stream: 'stdout', text })),
    stderr: new Output(child.stderr, shellOutputLength, (text) => progress?.({ stream: 'stderr', text })),
  }
  const stopped = Promise.withResolvers<EndedBy>()
  using _limits = stopAtDeadline(timeoutMs, signal, stopped.resolve)
  try {
    const end = await Promise.race([child.exited, stopped.promise])
    if (typeof end === 'string') {
      await endProcesses(child.pid, mark)
      await child.exited
    }
    await Promise.all([outputs.stdout.drain(), outputs.stderr.drain()])
    const [stdout, stderr] = [outputs.stdout.text, outputs.stderr.text]
    if (end === 'caller') throw signal.reason
    if (end === 'time') {
      const seconds = (timeoutMs ?? 0) / 1_000
      throw new Failure('command_timed_out', `Command timed out after ${seconds}s`, { stdout, stderr })
    }
    const { signalCode } = child
    const status = signalCode === null ? end : 128 + constants.signals[signalCode as NodeJS.Signals]
    return { stdout, stderr, status, truncated: outputs.stdout.isCut || outputs.stderr.isCut }
  } finally {
    running.end()
    outputs.stdout.forget()
    outputs.stderr.forget()
  }
}

/** What such servers run commands with. */
const shell = '/bin/sh'
