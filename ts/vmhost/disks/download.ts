/** Files from the network: fetched into the cache by one at a time, taken up again where they broke off. */
import { mkdir, open } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import { core, type FileLock } from '../core.ts'
import { noRoom } from '../files/file-failure.ts'
import type { Task } from '../host/operations.ts'
import { conditionalHeaders, contentOf, isChunked, isConditional, wholeWithRest } from './http-content.ts'
import { KeptDownload } from './kept-download.ts'

/** Milliseconds without a byte after which a connection is given up, tries in all, and the pause before the first new one. */
const patience = { idleTimeoutMs: 30_000, tries: 5, pauseMs: 500 }

/** Milliseconds between two looks whether another who fetches or reads the same has done so. */
const pollIntervalMs = 200

/** What a download hears and tells. */
export type Downloading = Pick<Task, 'signal' | 'step' | 'progress'>

/**
 * Gives `use` the file behind the address, which is kept in `folder` and stays as it is until `use` has settled; with
 * `isKept` it is kept longer, and used again as long as the server says that it is the same. Others wait meanwhile, those
 * of other processes too. Throws `download_failed` and `disk_full`.
 */
export const download = async <T>(
  url: string,
  folder: string,
  isKept: boolean,
  work: Downloading,
  use: (path: string) => Promise<T>,
): Promise<T> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const kept = new KeptDownload(folder, url)
  const before = await kept.whole()
  const lock = await lockOf(kept, url, work)
  try {
    await kept.removeUntold()
    const now = await kept.whole()
    // Another has fetched it while this one waited.
    const isFresh = now !== undefined && now.path !== before?.path
    const path = isFresh ? now.path : await fetchWhole(url, kept, work)
    try {
      return await use(path)
    } finally {
      if (!isKept) await kept.forget()
    }
  } finally {
    lock.release()
  }
}

const lockOf = async (kept: KeptDownload, url: string, { signal, step }: Downloading): Promise<FileLock> => {
  for (let look = 1; ; look++) {
    try {
      const lock = core().FileLock.take(kept.lock)
      if (lock !== null) return lock
    } catch (error) {
      throw failed(url, `"${kept.lock}" cannot be locked: ${(error as Error).message}`)
    }
    if (look === 1) step('waiting for another who fetches the same')
    await pauseFor(pollIntervalMs, signal)
  }
}

const fetchWhole = async (url: string, kept: KeptDownload, work: Downloading): Promise<string> => {
  work.step('downloading')
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchOnce(url, kept, work)
    } catch (error) {
      work.signal.throwIfAborted()
      if (error instanceof Failure) throw error
      if (attempt === patience.tries) throw failed(url, (error as Error).message)
      await pauseFor(patience.pauseMs * 2 ** (attempt - 1), work.signal)
    }
  }
}

const pauseFor = async (ms: number, signal: AbortSignal): Promise<void> => {
  await pause(ms, undefined, { signal }).catch(() => undefined)
  signal.throwIfAborted()
}

const fetchOnce = async (url: string, kept: KeptDownload, { signal, progress }: Downloading): Promise<string> => {
  const [whole, begun] = [await kept.whole(), await kept.begun()]
  const isComplete = begun !== undefined && begun.bytes === begun.content.bytes
  const asked = conditionalHeaders(begun?.content ?? whole?.content, isComplete ? undefined : begun?.bytes)
  const silence = new AbortController()
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(
      () => silence.abort(new Error(`it sent nothing for ${patience.idleTimeoutMs / 1000} s`)),
      patience.idleTimeoutMs,
    )
  }
  let timer: Timer | undefined
  heard()
  try {
    const answer = await fetch(url, {
      headers: asked,
      signal: AbortSignal.any([signal, silence.signal]),
      // Lengths, ranges and validators are of the bytes that are sent.
      decompress: false,
      // What a server sent beyond a length that it told would begin the next answer.
      keepalive: false,
    })
    const { status } = answer
    const isSame = status === 304 && isConditional(asked)
    if (isSame && isComplete) return await finish(kept)
    if (isSame && whole !== undefined) {
      progress(whole.content.bytes ?? 0, whole.content.bytes ?? null)
      return whole.path
    }
    const { start, total } = await rangeOf(answer, url, kept, isComplete ? undefined : begun)
    await receive(answer, kept.part, start, total ?? null, (done) => {
      heard()
      progress(done, total ?? null)
    })
    return await finish(kept)
  } catch (error) {
    throw noRoom(error, kept.part)
  } finally {
    clearTimeout(timer)
    // What is left of an answer is nobody's.
    silence.abort()
  }
}

/** Which bytes an answer brings: the rest of what has begun, or all, which then begins anew. Throws for any other answer. */
const rangeOf = async (
  answer: Response,
  url: string,
  kept: KeptDownload,
  begun: Awaited<ReturnType<KeptDownload['begun']>>,
) => {
  const { status } = answer
  if (status >= 500 || status === 408 || status === 429) throw new Error(`status ${status}`)
  const rest = status === 206 && begun !== undefined ? wholeWithRest(answer, begun) : undefined
  if (begun !== undefined && rest !== undefined) return { start: begun.bytes, total: rest }
  if ([206, 304, 416].includes(status)) {
    await kept.drop()
    throw new Error(`it answers with status ${status} to what it was not asked`)
  }
  if (status !== 200) throw failed(url, `the server answers with status ${status}`)
  const content = contentOf(answer)
  if (content.bytes === undefined && !isChunked(answer)) {
    throw failed(url, 'the server does not say how long it is, so that nobody could tell whether all of it arrived')
  }
  await kept.begin(content)
  return { start: 0, total: content.bytes }
}

/** Writes the bytes of the answer into the file from `start` on, until there are `total` where that is known. */
const receive = async (
  answer: Response,
  path: string,
  start: number,
  total: number | null,
  progress: (done: number) => void,
): Promise<void> => {
  let done = start
  await using file = await open(path, start > 0 ? 'a' : 'w', 0o600)
  for await (const bytes of answer.body ?? []) {
    // A write that finds little room writes a part.
    for (let at = 0; at < bytes.byteLength; ) at += (await file.write(bytes, at)).bytesWritten
    done += bytes.byteLength
    progress(done)
  }
  if (total !== null && done !== total) throw new Error(`it ended after ${done} of ${total} bytes`)
  const { size } = await file.stat()
  if (size !== done) throw new Error(`${size} of ${done} bytes were written`)
}

/** What was received before a service died may not be on the disk yet. */
const finish = async (kept: KeptDownload): Promise<string> => {
  {
    await using file = await open(kept.part, 'r')
    await file.sync()
  }
  return kept.finish()
}

/** The address without user, password, query and fragment, any of which may be a secret. */
export const withoutSecrets = (address: string): string => {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

const failed = (address: string, why: string): Failure => {
  const url = withoutSecrets(address)
  return new Failure('download_failed', `"${url}" cannot be fetched: ${why}. Check the address, or try again later.`, {
    url,
  })
}
