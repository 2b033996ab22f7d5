/** The latest published version, as a package registry tells it (npm's registry API: `GET /PACKAGE/latest`). */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { updates } from '@backlot/contract/limits'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** What is known of the latest version: it, or why it is not known. */
export type Latest = { readonly version: string } | { readonly problem: string }

// The grammar of https://semver.org, version 2.0.0.
const number = '(?:0|[1-9]\\d*)'
const label = `(?:${number}|\\d*[A-Za-z-][0-9A-Za-z-]*)`
const semver = `^${number}\\.${number}\\.${number}(?:-${label}(?:\\.${label})*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`

const Version = Type.String({ pattern: semver, maxLength: 64 })

/** An answer that was kept: who gave it, when in milliseconds since 1970, and what it was. */
const Kept = Type.Object({ registry: Type.String(), asked_at: Type.Number(), version: Version })

/**
 * Asks the registry at most once in some hours, and otherwise gives what the file `kept` holds. Sends nothing but the
 * request for the package: no cookie, no query, nothing that tells one machine from another.
 */
export const latestVersion = async (registry: string, kept: string, signal: AbortSignal): Promise<Latest> => {
  const known = await recall(kept)
  const age = Date.now() - (known?.asked_at ?? 0)
  if (known?.registry === registry && age >= 0 && age < updates.rememberMs) return { version: known.version }
  const latest = await ask(registry, signal)
  if ('version' in latest) await remember(kept, { registry, asked_at: Date.now(), version: latest.version })
  return latest
}

const ask = async (registry: string, signal: AbortSignal): Promise<Latest> => {
  const base = URL.parse(registry)
  if (base === null || !/^https?:$/.test(base.protocol)) return { problem: `"${registry}" is no address of a registry` }
  try {
    const response = await fetch(`${base.href.replace(/\/+$/, '')}/${updates.package}/latest`, {
      headers: { accept: 'application/json', 'user-agent': updates.package },
      credentials: 'omit',
      signal: AbortSignal.any([signal, AbortSignal.timeout(updates.timeoutMs)]),
    })
    if (response.status === 404) return { problem: `the registry at ${base.host} has no package "${updates.package}"` }
    if (!response.ok) return { problem: `the registry at ${base.host} answered with status ${response.status}` }
    return versionIn(await bounded(response), base.host)
  } catch (error) {
    if (signal.aborted) throw error
    const why = (error as Error).name === 'TimeoutError' ? 'did not answer in time' : 'cannot be reached'
    return { problem: `the registry at ${base.host} ${why}` }
  }
}

/** The text of an answer; `undefined` when it is longer than any that could be meant. */
const bounded = async (response: Response): Promise<string | undefined> => {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for await (const part of response.body ?? []) {
    bytes += part.byteLength
    if (bytes > updates.longestAnswerBytes) return undefined
    text += decoder.decode(part, { stream: true })
  }
  return text + decoder.decode()
}

const versionIn = (text: string | undefined, host: string): Latest => {
  const version = (parsed(text ?? '') as { version?: unknown } | null | undefined)?.version
  return Value.Check(Version, version) ? { version } : { problem: `the answer of ${host} holds no version` }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const recall = async (path: string) => {
  const kept = parsed(await readFile(path, 'utf8').catch(() => ''))
  return Value.Check(Kept, kept) ? kept : undefined
}

/** A cache that cannot be written costs another question and nothing else. */
const remember = async (path: string, kept: object): Promise<void> => {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(temporary, JSON.stringify(kept), { mode: 0o600 })
    await rename(temporary, path)
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined)
  }
}
