/** A program of this machine on a pseudo-terminal. */
import { closeSync, constants as files, openSync } from 'node:fs'
import { constants, homedir } from 'node:os'
import { Failure } from '@backlot/contract/failure'
import { resolvePath } from '../files/path.ts'
import { endProcesses, newMark } from '../processes.ts'
import type { StartProgram } from './program.ts'

/** Event-loop turns in which what a program wrote before its end is read. */
const turns = 3

/** Throws `not_available` where this process may have no terminal: Landlock closes those of sandboxes without namespaces. */
export const refuseTerminals = (): void => {
  try {
    closeSync(openSync('/dev/ptmx', files.O_RDWR | files.O_NOCTTY))
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') return
    throw new Failure(
      'not_available',
      `No terminal may be opened on this computer (${code} at /dev/ptmx); run commands without one ("run_command").`,
    )
  }
}

/** Starts it. Throws `not_available`. */
export const startLocalProgram: StartProgram = async ({ command, cols, rows, cwd, env }, take) => {
  refuseTerminals()
  const mark = newMark()
  let written = 0
  const words = command === undefined ? [shell, '-i'] : [shell, '-c', command]
  const child = Bun.spawn(words, {
    cwd: cwd === undefined ? homedir() : resolvePath(cwd),
    env: { ...process.env, TERM: 'xterm-256color', COLORTERM: 'truecolor', ...env, ...mark },
    terminal: {
      cols,
      rows,
      name: 'xterm-256color',
      data(_, bytes) {
        written += bytes.byteLength
        // The buffer is used again after the call.
        take(bytes.slice())
      },
    },
  }) as Bun.Subprocess & { readonly terminal: Pty }
  const ended = async () => {
    const status = await child.exited
    // What it wrote last is in the terminal still; its end may not come, where something in the background holds it.
    for (let turn = 0, before = -1; turn < turns || before !== written; turn++) {
      before = written
      await new Promise((settle) => setImmediate(settle))
    }
    child.terminal.close()
    const { signalCode } = child
    return signalCode === null ? status : 128 + constants.signals[signalCode as NodeJS.Signals]
  }
  return {
    pid: child.pid,
    exited: ended(),
    write: (bytes) => void child.terminal.write(bytes),
    resize: (columns, lines) => child.terminal.resize(columns, lines),
    end: () => endProcesses(child.pid, mark),
  }
}

/** What Bun gives a program on a pseudo-terminal. */
interface Pty {
  write(data: string | Uint8Array): unknown
  resize(cols: number, rows: number): void
  close(): void
}

const shell = Bun.which('bash', { PATH: '/bin:/usr/bin' }) ?? '/bin/sh'
