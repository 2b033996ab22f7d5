/** One process of the desktop: started, listened to, watched. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { startTicksOf } from './owner.ts'

/** Names of the processes that a desktop cannot do without. */
export type PartName = 'x_server' | 'window_manager' | 'session_bus' | 'accessibility_bus'

/** A started part. */
export interface Part {
  readonly name: PartName
  readonly pid: number
  /** Settles when the process has ended, with how: `status 1` or `signal SIGKILL`. */
  readonly exited: Promise<string>
  isAlive(): boolean
  /** First line of standard output that `wanted` matches; throws `desktop_not_started` where the part ends before. */
  line(wanted: RegExp): Promise<string>
  /** Settles when the part has ended, with the failure that this is before the desktop is ready. */
  readonly failed: Promise<Failure>
}

/** What a part is started from. */
export interface PartOptions {
  readonly name: PartName
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  /** The desktop's folder: standard error goes to `NAME.log` in it. */
  readonly folder: string
}

const lastWords = (log: string): string => {
  try {
    const lines = readFileSync(log, 'utf8').trim().split('\n')
    return lines.at(-1) ?? ''
  } catch {
    return ''
  }
}

/** Starts a part. */
export const startPart = ({ name, command, env, folder }: PartOptions): Part => {
  const log = join(folder, `${name}.log`)
  const logFile = openSync(log, 'w', 0o600)
  const child = Bun.spawn([...command], { cwd: '/', env, stdin: 'ignore', stdout: 'pipe', stderr: logFile })
  closeSync(logFile)
  const exited = child.exited.then(() =>
    child.signalCode === null ? `status ${child.exitCode}` : `signal ${child.signalCode}`,
  )
  const failed = exited.then((how) => {
    const words = lastWords(log)
    return new Failure(
      'desktop_not_started',
      `The ${name} of the private desktop ("${command[0]}") ended with ${how} before it was ready${words === '' ? '' : `; it said: ${words}`}. Run it by hand to see why.`,
      { part: name, program: command[0] },
    )
  })
  return {
    name,
    pid: child.pid,
    exited,
    failed,
    isAlive: () => startTicksOf(child.pid) !== null,
    async line(wanted) {
      let text = ''
      const decoder = new TextDecoder()
      for await (const bytes of child.stdout) {
        text += decoder.decode(bytes, { stream: true })
        const whole = text.slice(0, text.lastIndexOf('\n') + 1)
        const found = whole.split('\n').find((line) => wanted.test(line))
        if (found !== undefined) return found
      }
      throw await failed
    },
  }
}
