/** A program that the desktop's owner starts, with everything that descends from it. */
import { constants } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { startTicksOf } from './owner.ts'
import script from './program.sh' with { type: 'text' }

/** A program on a desktop. */
export interface DesktopProgram {
  readonly pid: number
  /** Settles when it has ended, with its status as a shell gives it: 128 + N where signal N ended it. */
  readonly exited: Promise<number>
  /** Sends it a signal; nothing happens where it has ended. */
  kill(signal: NodeJS.Signals): void
}

let count = 0

/** Starts a program with this process's standard streams on the desktop in `folder`; settles when it runs. */
export const startProgram = async (
  folder: string,
  command: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<DesktopProgram> => {
  const { startSubreaper } = await import('@backlot/native')
  count += 1
  const fifo = join(folder, `program-${count}`)
  // A reader of its own: this process would be kept from ending by a FIFO that it has opened.
  const reader = Bun.spawn(['/bin/sh', '-c', 'mkfifo -m 600 "$0" && echo && exec cat "$0"', fifo], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const lines = linesOf(reader.stdout)
  await lines.next()
  startSubreaper(
    '/bin/sh',
    ['-c', script, 'backlot-desktop-program', fifo, join(folder, 'subreapers'), ...command],
    env,
  )
  const { value: pid } = await lines.next()
  if (pid === undefined) {
    throw new Failure('desktop_lost', 'The private desktop ended before the program was started. Start it again.', {})
  }
  let isOver = false
  const exited = lines.next().then(({ value }) => {
    isOver = true
    // Without a status the shell was killed, and so, by the guardian, is the program.
    return Number(value ?? 128 + constants.signals.SIGKILL)
  })
  return {
    pid: Number(pid),
    exited,
    kill(signal) {
      if (!isOver && startTicksOf(Number(pid)) !== null) process.kill(Number(pid), signal)
    },
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
  return undefined
}
