/** One process of the desktop: started, listened to, watched. */
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { startTicksOf } from '@backlot/native/proc-stat'
import { type DescendantOptions, startDescendant } from './processes/descendant.ts'

/** Names of the processes that a desktop cannot do without. */
export type PartName = 'x_server' | 'window_manager' | 'session_bus' | 'accessibility_bus'

/** A started part. */
export interface DesktopProcess {
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
export interface PartOptions extends Omit<DescendantOptions, 'part'> {
  readonly name: PartName
}

const lastWords = (log: string): string => {
  try {
    const lines = readFileSync(log, 'utf8').trim().split('\n')
    return lines.at(-1) ?? ''
  } catch {
    return ''
  }
}

/** What a status says as a shell gives it: 128 + N where signal N ended a process. */
const ending = (status: number): string => {
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === status - 128) ?? []
  return signal === undefined ? `status ${status}` : `signal ${signal}`
}

/** Starts a part; settles when it runs. Throws `desktop_not_started` where the desktop ends before. */
export const startPart = async ({ name, ...options }: PartOptions): Promise<DesktopProcess> => {
  const started = await startDescendant({ ...options, part: name })
  const [program] = options.command
  if (started === null) {
    throw new Failure(
      'desktop_not_started',
      `The private desktop ended before its ${name} was started. Start it again.`,
      { part: name, program },
    )
  }
  const exited = started.exited.then((status) => (status === null ? 'signal SIGKILL' : ending(status)))
  const failed = exited.then((how) => {
    const words = lastWords(join(options.folder, `${name}.log`))
    return new Failure(
      'desktop_not_started',
      `The ${name} of the private desktop ("${program}") ended with ${how} before it was ready${words === '' ? '' : `; it said: ${words}`}. Run it by hand to see why.`,
      { part: name, program },
    )
  })
  return {
    name,
    pid: started.pid,
    exited,
    failed,
    isAlive: () => startTicksOf(started.pid) !== null,
    async line(wanted) {
      const line = await started.line(wanted)
      if (line === null) throw await failed
      return line
    },
  }
}
