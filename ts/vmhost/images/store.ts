/**
 * The images of a cache directory that came from registries: `.store/refs` has a file for each name, `.store/images` a
 * folder for each digest, `.store/blobs` the layers as they travel, `.store/locks` what is held while any of them is used.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { imageFile, LocalImage } from '@backlot/contract/vmhost/image'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { core, type FileLock } from '../core.ts'
import { makeFolder, replaceFile, syncFolder } from '../files/durable.ts'
import type { Task } from '../host/operations.ts'
import { type ImageReference, referenceText } from './reference.ts'
import { digestOf } from './registry/registry.ts'

const Reference = Type.Object({
  registry: Type.String(),
  organization: Type.String(),
  name: Type.String(),
  tag: Type.String(),
  digest: Type.String(),
})
/** A name, and the digest of the manifest that it stands for. */
export type ImageName = Static<typeof Reference>

/** An image that is whole. */
export interface StoredImage extends ImageName {
  /** Folder with `image.json` and the files that it names. */
  readonly folder: string
  readonly about: LocalImage
}

/** What work with images hears and tells. */
export type ImageWork = Pick<Task, 'signal' | 'step' | 'progress'>

/** Milliseconds between two looks whether another process is done. */
const pollIntervalMs = 100

/** Before the name of an image that is being made. */
export const newPrefix = '.new-'

/** Those of one cache directory. */
export class ImageStore {
  readonly root: string

  constructor(cacheDirectory: string) {
    this.root = join(cacheDirectory, '.store')
  }

  /** Path of a layer that is whole. */
  blob(digest: string): string {
    return join(this.root, 'blobs', fileName(digest))
  }

  /** The folder of the image with that manifest. */
  folder(digest: string): string {
    return join(this.root, 'images', fileName(digest))
  }

  /** The hidden folder where that image is made, by whoever has its lock. */
  newFolder(digest: string): string {
    return join(this.root, 'images', `${newPrefix}${fileName(digest)}`)
  }

  /** The folder for what is on its way in the push with that id, and the name of its lock. */
  push(id: string): { folder: string; lock: string } {
    return { folder: join(this.root, 'pushes', id), lock: `push-${id}` }
  }

  async prepare(): Promise<void> {
    for (const name of ['blobs', 'images', 'locks', 'refs']) await makeFolder(join(this.root, name))
  }

  /** The image of that name; undefined where there is none. Throws `image_damaged`. */
  async find(reference: ImageReference): Promise<StoredImage | undefined> {
    const named = await read(this.#reference(reference))
    return named === undefined ? undefined : this.#image(named)
  }

  /** Those of every name that can be read, sorted. */
  async list(): Promise<StoredImage[]> {
    const files = await namesIn(join(this.root, 'refs'))
    const found: StoredImage[] = []
    for (const file of files.filter((each) => each.endsWith('.json'))) {
      const named = await read(join(this.root, 'refs', file))
      const image = named && (await this.#image(named).catch(() => undefined))
      if (image !== undefined) found.push(image)
    }
    return found.sort((a, b) => (referenceText(a) < referenceText(b) ? -1 : 1))
  }

  /** Gives a name to an image that is whole. */
  async name(reference: ImageReference, digest: string): Promise<StoredImage> {
    const { registry, organization, name, tag } = reference
    const named: ImageName = { registry, organization, name, tag, digest }
    await replaceFile(this.#reference(reference), `${JSON.stringify(named)}\n`)
    const image = await this.#image(named)
    if (image === undefined) throw damaged(referenceText(reference), `"${this.folder(digest)}" is gone`)
    return image
  }

  /** Removes a name, and the image where it was its last one. Whoever has its lock may do so. */
  async remove(reference: ImageReference): Promise<void> {
    const path = this.#reference(reference)
    const named = await read(path)
    await rm(path, { force: true })
    await syncFolder(join(this.root, 'refs'))
    if (named === undefined || (await this.list()).some(({ digest }) => digest === named.digest)) return
    await rm(this.folder(named.digest), { recursive: true, force: true })
  }

  /** Does work while no other process has one of these locks, of digests and pushes; they are taken in one order, so that nobody waits in a ring. */
  async exclusively<T>(names: readonly string[], work: ImageWork, use: () => Promise<T>): Promise<T> {
    const held: FileLock[] = []
    try {
      for (const name of [...new Set(names)].sort()) held.push(await this.#lock(name, work))
      return await use()
    } finally {
      for (const lock of held) lock.leave()
    }
  }

  /** The lock, where nobody has it; undefined where somebody does. */
  tryLock(name: string): FileLock | undefined {
    return core().FileLock.take(join(this.root, 'locks', fileName(name))) ?? undefined
  }

  async #lock(name: string, { signal, step }: ImageWork): Promise<FileLock> {
    for (let look = 1; ; look++) {
      signal.throwIfAborted()
      const lock = this.tryLock(name)
      if (lock !== undefined) return lock
      if (look === 1) step('waiting for another who uses the same image')
      await Bun.sleep(pollIntervalMs)
    }
  }

  async #image(named: ImageName): Promise<StoredImage | undefined> {
    const folder = this.folder(named.digest)
    const text = await readFile(join(folder, imageFile), 'utf8').catch(() => undefined)
    if (text === undefined) return undefined
    const about: unknown = JSON.parse(text)
    const fault = Value.Errors(LocalImage, about).First()
    if (fault !== undefined) throw damaged(folder, `${fault.path || 'it'}: ${fault.message}`)
    return { ...named, folder, about: about as LocalImage }
  }

  #reference(reference: ImageReference): string {
    return join(this.root, 'refs', `${fileName(digestOf(referenceText(reference)))}.json`)
  }
}

/** What is in a folder; nothing where there is none. Throws `storage_unreadable`. */
export const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    const why = `"${folder}" cannot be read: ${error.message}. Mend it, or name another cache directory.`
    throw new Failure('storage_unreadable', why, { path: folder })
  })

/** The digest that a file is named after. */
export const digestIn = (file: string): string => file.replace('-', ':')

/** A digest as the name of a file. */
export const fileName = (digest: string): string => digest.replace(':', '-')

const read = async (path: string): Promise<ImageName | undefined> => {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const named: unknown = JSON.parse(text)
    return Value.Check(Reference, named) ? named : undefined
  } catch {
    return undefined
  }
}

const damaged = (image: string, why: string): Failure =>
  new Failure('image_damaged', `The image "${image}" cannot be used: ${why}. Remove it and pull it again.`, { image })

/** Bytes of the blocks that removing a file gives back: none where another name for it stays. */
export const freedBytes = async (path: string): Promise<number> => {
  const found = await stat(path).catch(() => undefined)
  return found === undefined || !found.isFile() || found.nlink > 1 ? 0 : found.blocks * 512
}
