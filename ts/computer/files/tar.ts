/** Folders as tar archives (pax, IEEE 1003.1), packed and unpacked by the system's `tar` as they are streamed. */
import { addAbortListener } from 'node:events'
import { Failure } from '@backlot/contract/failure'
import { endProcesses, newMark } from '../processes.ts'

/**
 * The archive of what is in a folder, whose paths begin at it. A file that grows meanwhile is given up to where it ended at
 * first; one that is cut or removed meanwhile cuts the answer short.
 */
export const packFolder = (folder: string, signal: AbortSignal): Response => {
  const mark = newMark()
  const child = Bun.spawn([program(), '-C', folder, '-cf', '-', '.'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
    env: { ...process.env, ...mark, LC_ALL: 'C' },
  })
  const said = child.stderr.text()
  const end = () => void endProcesses(child.pid, mark)
  const ending = addAbortListener(signal, end)
  void child.exited.finally(() => ending[Symbol.dispose]())
  const reader = child.stdout.getReader()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) {
        controller.enqueue(value)
        return
      }
      // An answer that ends early is all that says that it is not whole: its status has been sent.
      const status = await child.exited
      if (status === 0 || (status === 1 && hasOnlyGrown(await said))) controller.close()
      else controller.error(new Error(`tar ended with status ${status}`))
    },
    cancel: end,
  })
  return new Response(stream, { headers: { 'Content-Type': 'application/x-tar' } })
}

/** Whether all that GNU tar complains of is that files changed, of which it gives as many bytes as they had at first. */
const hasOnlyGrown = (said: string): boolean =>
  said
    .trim()
    .split('\n')
    .every((line) => line.endsWith(': file changed as we read it'))

/** Unpacks the body of a request into a folder. Throws `invalid_body` with what `tar` says; what it unpacked before stays. */
export const unpackInto = async (folder: string, { body, signal }: Request): Promise<void> => {
  const mark = newMark()
  const child = Bun.spawn([program(), '-C', folder, '-xf', '-', '--no-same-owner'], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
    detached: true,
    env: { ...process.env, ...mark },
  })
  const said = child.stderr.text()
  using _ending = addAbortListener(signal, () => void endProcesses(child.pid, mark))
  const tail = new Tail()
  try {
    for await (const piece of body ?? []) {
      tail.add(piece)
      child.stdin.write(piece)
      await child.stdin.flush()
    }
    await child.stdin.end()
  } catch {
    // What ended the archive or its reader is told by the status.
    await endProcesses(child.pid, mark)
  }
  const status = await child.exited
  if (status === 0 && tail.isEnd) return
  const why = status === 0 ? 'it ended early' : (await said).trim().split('\n').slice(0, 3).join('; ')
  throw new Failure('invalid_body', `The archive was not unpacked into "${folder}": ${why || 'it ended early'}.`, {
    path: folder,
  })
}

/** The end of an archive, which is two blocks of zeros: tar takes one that was cut between two files for a whole one. */
class Tail {
  #bytes: Uint8Array = new Uint8Array()

  add(piece: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes.subarray(-endBytes), piece.subarray(-endBytes)]).subarray(-endBytes)
  }

  get isEnd(): boolean {
    return this.#bytes.byteLength === endBytes && this.#bytes.every((byte) => byte === 0)
  }
}

const endBytes = 1_024

const program = (): string => {
  const found = Bun.which('tar')
  if (found !== null) return found
  throw new Failure('missing_program', '"tar" packs and unpacks folders and is not installed.', { program: 'tar' })
}
