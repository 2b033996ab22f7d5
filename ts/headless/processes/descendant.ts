/** A process of a desktop with everything that descends from it, which ends with the desktop wherever it has gone. */

import { join } from 'node:path'
import { linesOf } from '@backlot/contract/lines'
import script from '../descendant.sh' with { type: 'text' }

/** What a process is started from. */
export interface DescendantOptions {
  /** The desktop's folder. */
  readonly folder: string
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  /** Aborted when the desktop is to end: the guardian may have looked for its processes already. */
  readonly ending: AbortSignal
  /**
   * The part that it is, which is in a session of its own, where no terminal sends it signals, with its pid in `PART.pid`
   * and its standard error in `PART.log`; without it, this process's session and standard streams are the process's too.
   */
  readonly part?: string
}

/** A started process. */
export interface Descendant {
  readonly pid: number
  /** Settles when it has ended, with its status as a shell gives it; null where it was killed with the desktop. */
  readonly exited: Promise<number | null>
  /** The first line of a part's standard output that `wanted` matches; null where the part ends before. */
  line(wanted: RegExp): Promise<string | null>
}

let count = 0

/** Starts a process on a desktop; settles when it runs, with null where the desktop ends before. */
export const startDescendant = async (options: DescendantOptions): Promise<Descendant | null> => {
  const { folder, command, env, ending, part } = options
  const { startSubreaper } = await import('@backlot/native')
  count += 1
  const fifo = join(folder, `process-${count}`)
  // A reader of its own: this process would be kept from ending by a FIFO that it has opened.
  const reader = Bun.spawn(['/bin/sh', '-c', 'mkfifo -m 600 "$0" && echo && exec cat "$0"', fifo], {
    cwd: '/',
    // It ends with the desktop, also where this process dies before there is anything to read.
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    // What is typed at a terminal to interrupt a program is not for it.
    detached: true,
  })
  const lines = linesOf(reader.stdout)
  const { done } = await lines.next()
  if (done || ending.aborted) {
    reader.kill()
    return null
  }
  const own = ['/bin/sh', '-c', script, 'backlot-desktop-process', fifo, folder, part ?? '', ...command]
  const inSession = '! command -v setsid >/dev/null || exec setsid "$@"; exec "$@"'
  startSubreaper('/bin/sh', part === undefined ? own.slice(1) : ['-c', inSession, 'sh', ...own], env)
  const { value: pid } = await lines.next()
  if (pid === undefined) return null
  const output = listen(lines)
  return { pid: Number(pid), ...output }
}

const statusIn = (line: string): number | null => {
  const [, status] = /backlot-desktop-process ended: (\d+)$/.exec(line) ?? []
  return status === undefined ? null : Number(status)
}

/** Lines that are kept for the first question. */
const mostKept = 100

/** Reads the lines to the end, so that no writer is halted. */
const listen = (lines: AsyncGenerator<string, undefined>): Pick<Descendant, 'exited' | 'line'> => {
  let kept: string[] | null = []
  let asked: ((line: string) => void) | null = null
  const { promise: exited, resolve: end } = Promise.withResolvers<number | null>()
  const read = async () => {
    for await (const line of lines) {
      const status = statusIn(line)
      // Who has the standard output from it may outlive it.
      if (status !== null) end(status)
      if (kept !== null && kept.length < mostKept) kept.push(line)
      asked?.(line)
    }
    end(null)
  }
  void read()
  return {
    exited,
    line(wanted) {
      const { promise, resolve } = Promise.withResolvers<string | null>()
      const look = (line: string) => {
        if (wanted.test(line)) resolve(line)
      }
      kept?.forEach(look)
      kept = null
      asked = look
      return Promise.race([promise, exited.then(() => null)])
    },
  }
}
