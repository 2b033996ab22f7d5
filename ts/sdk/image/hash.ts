/** Hashes of what a build does, by which runtimes keep what they have built. */
import type { Hash } from 'node:crypto'
import { localFailure } from '../local/failure.ts'
import { stepsOf } from './dict.ts'
import type { Image } from './image.ts'
import type { BuildStep } from './layer.ts'
import { builtin, localEntries } from './local-files.ts'

/** A step, and the hash of it and of all before it. */
export interface HashedStep {
  readonly step: BuildStep
  /** SHA-256 in hexadecimal digits. */
  readonly hash: string
}

/**
 * The steps of an image's build, each with a hash of its content, of the files that it copies, and of all that stands before
 * it; the last is the key of the whole. `base` names what the build begins with as exactly as the caller knows it, for
 * instance by digest; the image's own words unless given. Contents are read as a stream. Throws `file_not_found`.
 */
export const layerHashes = async (image: Image, base?: string): Promise<HashedStep[]> => {
  const { os_type, distro, version, kind, registry = null, disk_path = null, ...rest } = image.toDict()
  const hashed: HashedStep[] = []
  let before = base ?? JSON.stringify([os_type, distro, version, kind, registry, disk_path])
  for (const step of stepsOf({ os_type, distro, version, kind, ...rest })) {
    const hash = builtin('crypto').createHash('sha256')
    add(hash, before, canonical(step))
    if (step.type === 'copy') await addFiles(hash, step.src)
    before = hash.digest('hex')
    hashed.push({ step, hash: before })
  }
  return hashed
}

const addFiles = async (hash: Hash, src: string): Promise<void> => {
  for (const entry of localEntries(src)) {
    if (entry.type === 'link') add(hash, entry.type, entry.path, entry.to)
    else add(hash, entry.type, entry.path, entry.mode.toString(8))
    if (entry.type !== 'file') continue
    let bytes = 0
    try {
      for await (const part of builtin('fs').createReadStream(entry.localPath)) {
        hash.update(part as Buffer)
        bytes += (part as Buffer).length
      }
    } catch (error) {
      throw localFailure(error, entry.localPath)
    }
    // The length after the content: no file can pass for another and what follows it.
    add(hash, String(bytes))
  }
}

/** Adds words so that no two lists of words give the same bytes. */
const add = (hash: Hash, ...words: readonly string[]): void => {
  hash.update(JSON.stringify(words))
}

/** A step as text in which the order of its fields makes no difference; that of its packages does. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
