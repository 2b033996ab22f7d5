/** The shell commands that run, by process: they are given input and signals. */
import { constants } from 'node:os'
import { Failure } from '@backlot/contract/failure'
import { endProcesses, signalProcesses } from '../processes.ts'

interface Running {
  readonly mark: Readonly<Record<string, string>>
  readonly stdin: Bun.FileSink | undefined
}

const running = new Map<number, Running>()

/** Notes that a command runs; `end` says that it does not any more. */
export const begin = (
  { pid, stdin }: { readonly pid: number; readonly stdin: Bun.FileSink | number | undefined },
  mark: Readonly<Record<string, string>>,
): { end(): void } => {
  const noted: Running = { mark, stdin: typeof stdin === 'object' ? stdin : undefined }
  running.set(pid, noted)
  return {
    end() {
      if (running.get(pid) === noted) running.delete(pid)
      void Promise.resolve(noted.stdin?.end()).catch(() => undefined)
    },
  }
}

/** Ends all commands that run, with what they started. */
export const endRunning = async (): Promise<void> => {
  await Promise.all([...running].map(([pid, { mark }]) => endProcesses(pid, mark)))
}

/** Gives a command more to read. Throws `command_not_found` and `invalid_argument`. */
export const giveInput = async (pid: number, bytes: Uint8Array, isLast: boolean): Promise<void> => {
  const { stdin } = find(pid)
  if (stdin === undefined) {
    throw new Failure('invalid_argument', `Command ${pid} reads nothing from here; start it with "stdin_open".`, {
      pid,
    })
  }
  try {
    if (bytes.byteLength > 0) {
      stdin.write(bytes)
      await stdin.flush()
    }
    if (isLast) await stdin.end()
  } catch (error) {
    // A program may end, or close its input, before it has read all.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

/** Signals a command and all that it started. Throws `command_not_found` and `invalid_argument`. */
export const signalCommand = async (pid: number, name: string): Promise<void> => {
  const { mark } = find(pid)
  if (!Object.hasOwn(constants.signals, name)) {
    throw new Failure('invalid_argument', `"${name}" is no signal; give one such as SIGTERM or SIGINT.`, {
      signal: name,
    })
  }
  await signalProcesses(pid, mark, name as NodeJS.Signals)
}

const find = (pid: number): Running => {
  const found = running.get(pid)
  if (found !== undefined) return found
  throw new Failure('command_not_found', `No command ${pid} runs; it has ended, or never began.`, { pid })
}
