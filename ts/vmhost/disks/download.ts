/** Files from the network: fetched into the cache by one at a time, taken up again where they broke off. */
import { mkdir, open } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import { core, type FileLock } from '../core.ts'
import { noRoom } from '../file-failure.ts'
import type { Work } from '../operations.ts'
import { type Content, KeptDownload, validatorOf } from './kept-download.ts'

/** Milliseconds without a byte after which a connection is given up, tries in all, and the pause before the first new one. */
const patience = { silenceMs: 30_000, tries: 5, pauseMs: 500 }

/** Milliseconds between two looks whether another who fetches or reads the same has done so. */
const lookEveryMs = 200

/** What a download hears and tells. */
export type Downloading = Pick<Work, 'signal' | 'step' | 'progress'>

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
    await pauseFor(lookEveryMs, signal)
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
  const asked = headersOf(begun?.content ?? whole?.content, isComplete ? undefined : begun?.bytes)
  const silence = new AbortController()
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(
      () => silence.abort(new Error(`it sent nothing for ${patience.silenceMs / 1000} s`)),
      patience.silenceMs,
    )
  }
  let timer: Timer | undefined
  heard()
  try {
    const answer = await fetch(url, { headers: asked, signal: AbortSignal.any([signal, silence.signal]) })
    const { status } = answer
    if (status === 304 && isComplete) return await finish(kept)
    if (status === 304 && begun === undefined && whole !== undefined) {
      progress(whole.content.bytes ?? 0, whole.content.bytes ?? null)
      return whole.path
    }
    if (status >= 500 || status === 408 || status === 429) throw new Error(`status ${status}`)
    const isRest = status === 206 && begun !== undefined && !isComplete && isRestOf(answer, begun)
    if (!isRest && [206, 304, 416].includes(status)) {
      await kept.drop()
      throw new Error('its content is another now')
    }
    if (status !== 200 && !isRest) throw failed(url, `the server answers with status ${status}`)
    if (!isRest) await kept.begin(contentOf(answer))
    await receive(answer, kept.part, isRest ? begun.bytes : 0, (done, total) => {
      heard()
      progress(done, total)
    })
    return await finish(kept)
  } catch (error) {
    throw noRoom(error, kept.part)
  } finally {
    clearTimeout(timer)
  }
}

/** Asks for the rest of what was begun, or whether the content is still the one that is here. */
const headersOf = (content: Content | undefined, begunBytes: number | undefined): Record<string, string> => {
  const plain = { 'Accept-Encoding': 'identity' }
  const validator = content && validatorOf(content)
  if (content === undefined || validator === undefined) return plain
  if (begunBytes !== undefined) return { ...plain, Range: `bytes=${begunBytes}-`, 'If-Range': validator }
  return { ...plain, [content.etag === undefined ? 'If-Modified-Since' : 'If-None-Match']: validator }
}

/** Whether a part of a content goes on where this one ends; not every server minds `If-Range`. */
const isRestOf = (answer: Response, { bytes, content }: { bytes: number; content: Content }): boolean => {
  const [, start, end, all] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(answer.headers.get('content-range') ?? '') ?? []
  const etag = answer.headers.get('etag')
  const modified = answer.headers.get('last-modified')
  if (Number(start) !== bytes) return false
  if (content.bytes !== undefined && Number(end) !== content.bytes - 1) return false
  if (content.bytes !== undefined && all !== '*' && Number(all) !== content.bytes) return false
  if (content.etag !== undefined && etag !== null) return etag === content.etag
  return content.modified === undefined || modified === null || modified === content.modified
}

/** Writes the bytes of the answer into the file from `start` on, and waits until the disk has them. */
const receive = async (
  answer: Response,
  path: string,
  start: number,
  progress: Downloading['progress'],
): Promise<void> => {
  const length = answer.headers.get('content-length')
  const total = length === null ? null : start + Number(length)
  let done = start
  await using file = await open(path, start > 0 ? 'a' : 'w', 0o600)
  for await (const bytes of answer.body ?? []) {
    await file.write(bytes)
    done += bytes.byteLength
    progress(done, total)
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

/** Milliseconds by which a content must be older than its answer to be the only one of that date (RFC 9110, 8.8.2.2). */
const strongAfterMs = 1_000

const contentOf = ({ headers }: Response): Content => {
  const [etag, modified, length] = [headers.get('etag'), headers.get('last-modified'), headers.get('content-length')]
  const age = Date.parse(headers.get('date') ?? '') - Date.parse(modified ?? '')
  return {
    // A weak one says nothing about bytes.
    ...(etag !== null && !etag.startsWith('W/') && { etag }),
    ...(modified !== null && age >= strongAfterMs && { modified }),
    ...(length !== null && { bytes: Number(length) }),
  }
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
