/** The images in a cache directory. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { imageFile, LocalImage } from '@backlot/contract/vmhost/image'
import { Value } from '@sinclair/typebox/value'

/** An image and where it stands. */
export interface FoundImage {
  readonly folder: string
  readonly image: LocalImage
  /** Bytes that it takes on disk. */
  readonly bytes: number
}

/** The image in a folder, or undefined where that is none. */
export const readImage = async (folder: string): Promise<LocalImage | undefined> => {
  const text = await readFile(join(folder, imageFile), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const image: unknown = JSON.parse(text)
    return Value.Check(LocalImage, image) ? image : undefined
  } catch {
    return undefined
  }
}

/** Every image below a cache directory, sorted by name and tag; a directory that is not there holds none. */
export const listImages = async (cacheDirectory: string): Promise<FoundImage[]> => {
  const names = await readdir(cacheDirectory).catch(() => [])
  const found: FoundImage[] = []
  for (const name of names.filter((each) => !each.startsWith('.')).sort()) {
    const folder = join(cacheDirectory, name)
    const image = await readImage(folder)
    if (image !== undefined) found.push({ folder, image, bytes: await bytesOf(folder) })
  }
  return found
}

const bytesOf = async (folder: string): Promise<number> => {
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (file) => (await stat(join(folder, file))).blocks * 512),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
