/** Starts the executable in the place of this process. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { executablePath } from './executable.ts'

/** The names of the executable; which one is used decides what its commands mean. */
export type Name = 'backlot' | 'backlot-driver'

/** The status when there is no executable: that of the failure `unsupported_platform`. */
const absentStatus = 1

/** Starts the executable under a name, with the arguments, streams and environment of this process. */
export const start = (name: Name): void => {
  let path: string
  try {
    path = executablePath()
  } catch (error) {
    absent(error)
    return
  }
  const args = process.argv.slice(2)
  // Node 22.15 and later, and Bun: nothing of this process is left that signals, statuses and streams would have to pass.
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(path, [name, ...args], process.env as Record<string, string>)
  }
  attend(path, name, args)
}

const absent = (error: unknown): void => {
  process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = absentStatus
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const

/** Runs the executable as a child, hands signals on to it, and ends as it ends. */
const attend = (path: string, name: Name, args: readonly string[]): void => {
  const child = spawn(path, args, { stdio: 'inherit', argv0: name })
  // What is typed at a terminal reaches the child as well: it would have it twice.
  const typed: readonly NodeJS.Signals[] = isatty(0) ? ['SIGINT', 'SIGQUIT'] : []
  for (const signal of signals) {
    process.on(signal, () => {
      if (!typed.includes(signal)) child.kill(signal)
    })
  }
  child.on('error', absent)
  child.on('exit', (status, signal) => {
    for (const each of signals) process.removeAllListeners(each)
    process.exitCode = status ?? 128 + (signal === null ? 0 : constants.signals[signal])
    // Who waits for this process is told by which signal the other ended.
    if (signal !== null) process.kill(process.pid, signal)
  })
}
