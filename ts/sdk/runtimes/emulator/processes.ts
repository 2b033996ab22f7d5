/** The processes of an emulator: started to outlive this program, asked to end, ended. */
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { pause } from '../../deadline.ts'
import { ConnectionError } from '../../errors.ts'
import { hasEnded, type ProcessIdentity, processOf } from '../../state/owner.ts'

/** Milliseconds between two looks at a process. */
const pollIntervalMs = 50

/** The first port of a console that adb looks at by itself, and how many there are, in steps of two. */
const firstPort = 5_554
const portCount = 64

/** Starts a program in a session of its own, whose output goes to a file. */
export const startDetached = async (
  command: readonly [string, ...string[]],
  { env, stdout, stderr }: { env: Record<string, string>; stdout: string; stderr: string },
): Promise<ProcessIdentity> => {
  const [program, ...words] = command
  const files = [openSync(stdout, 'a', 0o600), openSync(stderr, 'a', 0o600)] as const
  try {
    const child = spawn(program, words, {
      env: { ...process.env, ...env },
      stdio: ['ignore', ...files],
      detached: true,
    })
    await new Promise<void>((settle, refuse) => child.once('spawn', settle).once('error', refuse))
    // It does not keep this program from ending.
    child.unref()
    return await processOf(child.pid ?? 0)
  } finally {
    for (const file of files) closeSync(file)
  }
}

/** Ends a process and those of its session: asks, waits, and then does not ask. */
export const endProcess = async (owner: ProcessIdentity | null, patienceMs: number): Promise<void> => {
  if (owner === null || (await hasEnded(owner))) return
  signal(owner, 'SIGTERM')
  if (await endsWithin(owner, patienceMs)) return
  signal(owner, 'SIGKILL')
  await endsWithin(owner, patienceMs)
}

/** Whether a process ends by itself in that time. */
export const endsWithin = async (owner: ProcessIdentity, patienceMs: number): Promise<boolean> => {
  const deadline = performance.now() + patienceMs
  while (!(await hasEnded(owner))) {
    if (performance.now() > deadline) return false
    await new Promise((settle) => setTimeout(settle, pollIntervalMs))
  }
  return true
}

const signal = ({ pid }: ProcessIdentity, name: NodeJS.Signals): void => {
  try {
    // Windows has no groups of processes.
    process.kill(process.platform === 'win32' ? pid : -pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** A port for a console whose next one is free too, none of `taken`. Throws `unreachable` where there is none. */
export const freePorts = async (taken: ReadonlySet<number>): Promise<number> => {
  for (let at = 0; at < portCount; at++) {
    const port = firstPort + 2 * at
    if (!taken.has(port) && (await isFree(port)) && (await isFree(port + 1))) return port
  }
  throw new ConnectionError('unreachable', `All ports for emulators are taken; end one that is not needed.`)
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((settle) => {
    const caller = connect(port, '127.0.0.1')
    caller.once('connect', () => {
      caller.destroy()
      settle(false)
    })
    caller.once('error', () => {
      const server = createServer()
      server.once('error', () => settle(false))
      server.listen(port, '127.0.0.1', () => server.close(() => settle(true)))
    })
  })

/** The first line that a process writes to a file. Throws `unreachable` with the last it wrote to `log` where it ends before. */
export const firstLine = async (
  file: string,
  owner: ProcessIdentity,
  log: string,
  stop: AbortSignal,
): Promise<string> => {
  for (;;) {
    const [line, ...rest] = (await readFile(file, 'utf8').catch(() => '')).split('\n')
    if (line !== undefined && line !== '' && rest.length > 0) return line
    if (await hasEnded(owner)) {
      const said = (await readFile(log, 'utf8').catch(() => '')).trim().split('\n').slice(-3).join(' / ')
      throw new ConnectionError('unreachable', `The computer server of the emulator ended: ${said}.`)
    }
    await pause(pollIntervalMs, stop)
  }
}
