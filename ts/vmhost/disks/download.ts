/** Files from the network: fetched into the cache, taken up again where they broke off. */
import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { replaceFile } from '../durable.ts'
import { noRoom } from '../file-failure.ts'
import type { Copying } from './qemu-img.ts'

/** Milliseconds without a byte after which a connection is given up, tries in all, and the pause before the first new one. */
const patience = { silenceMs: 30_000, tries: 5, pauseMs: 500 }

/** What tells one content of an address from another (RFC 9110, 8.8). */
interface Validator {
  readonly etag?: string
  readonly modified?: string
}

/** What a download tells. */
export interface Downloading extends Omit<Copying, 'progress'> {
  progress(doneBytes: number, totalBytes: number | null): void
}

/**
 * The file behind the address, in `folder`; what was fetched before is kept and used again as long as the server says that
 * it is the same. Throws `download_failed` and `disk_full`.
 */
export const download = async (url: string, folder: string, work: Downloading): Promise<string> => {
  const name = createHash('sha256').update(url).digest('hex').slice(0, 32)
  const [whole, part, about] = [`${name}.disk`, `${name}.part`, `${name}.json`].map((file) => join(folder, file)) as [
    string,
    string,
    string,
  ]
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchOnce(url, { whole, part, about }, work)
    } catch (error) {
      work.signal.throwIfAborted()
      if (error instanceof Failure) throw error
      if (attempt === patience.tries) throw failed(url, (error as Error).message)
      await Bun.sleep(patience.pauseMs * 2 ** (attempt - 1))
      work.signal.throwIfAborted()
    }
  }
}

const fetchOnce = async (
  url: string,
  { whole, part, about }: { whole: string; part: string; about: string },
  { signal, progress }: Downloading,
): Promise<string> => {
  const known = await readValidator(about)
  const have = known === undefined ? undefined : await sizeOf(whole)
  const begun = known === undefined ? 0 : ((await sizeOf(part)) ?? 0)
  const headers: Record<string, string> = { 'Accept-Encoding': 'identity' }
  const validator = known?.etag ?? known?.modified
  if (have !== undefined && validator !== undefined) {
    headers[known?.etag ? 'If-None-Match' : 'If-Modified-Since'] = validator
  } else if (begun > 0 && validator !== undefined) {
    headers.Range = `bytes=${begun}-`
    headers['If-Range'] = validator
  }
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
    const answer = await fetch(url, { headers, signal: AbortSignal.any([signal, silence.signal]) })
    if (answer.status === 304 && have !== undefined) {
      progress(have, have)
      return whole
    }
    const resumes = answer.status === 206 && begun > 0
    if (answer.status >= 500 || answer.status === 408 || answer.status === 429)
      throw new Error(`status ${answer.status}`)
    if (answer.status !== 200 && !resumes) throw failed(url, `the server answers with status ${answer.status}`)
    await replaceFile(about, JSON.stringify(validatorOf(answer)))
    const start = resumes ? begun : 0
    const length = answer.headers.get('content-length')
    const total = length === null ? null : start + Number(length)
    let done = start
    await using file = await open(part, resumes ? 'a' : 'w', 0o600)
    for await (const bytes of answer.body ?? []) {
      await file.write(bytes)
      done += bytes.byteLength
      heard()
      progress(done, total)
    }
    if (total !== null && done !== total) throw new Error(`it ended after ${done} of ${total} bytes`)
    await file.sync()
  } catch (error) {
    throw noRoom(error, part)
  } finally {
    clearTimeout(timer)
  }
  await rename(part, whole)
  return whole
}

const validatorOf = ({ headers }: Response): Validator => {
  const [etag, modified] = [headers.get('etag'), headers.get('last-modified')]
  // A weak one says nothing about bytes.
  return {
    ...(etag !== null && !etag.startsWith('W/') && { etag }),
    ...(modified !== null && { modified }),
  }
}

const readValidator = async (path: string): Promise<Validator | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Validator
  } catch {
    return undefined
  }
}

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  )

/** Forgets the whole file, for hosts that keep no images. */
export const forget = (path: string): Promise<void> => rm(path, { force: true })

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
