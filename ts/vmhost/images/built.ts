/** Images that were built here: a folder `NAME_TAG` of the cache directory each. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { imageFile, imageFolder, LocalImage } from '@backlot/contract/vmhost/image'
import { Value } from '@sinclair/typebox/value'

/** An image and its folder. */
export interface BuiltImage {
  readonly folder: string
  readonly about: LocalImage
}

/** The image of that name; undefined where there is none. Throws `image_damaged`. */
export const findBuilt = async (cache: string, name: string, tag: string): Promise<BuiltImage | undefined> => {
  const found = await readBuilt(join(cache, imageFolder(name, tag)))
  // `a_b:c` and `a:b_c` have the same folder.
  return found?.about.name === name && found.about.tag === tag ? found : undefined
}

/** Those that can be read, sorted by their folders. */
export const listBuilt = async (cache: string): Promise<BuiltImage[]> => {
  const names = (await readdir(cache).catch(() => [])).filter((name) => !name.startsWith('.'))
  const found = await Promise.all(names.sort().map((name) => readBuilt(join(cache, name)).catch(() => undefined)))
  return found.filter((each) => each !== undefined)
}

/** The image in a folder; undefined where that is none. Throws `image_damaged`. */
export const readBuilt = async (folder: string): Promise<BuiltImage | undefined> => {
  const path = join(folder, imageFile)
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const about: unknown = JSON.parse(text)
    const fault = Value.Errors(LocalImage, about).First()
    if (fault !== undefined) throw new Error(`${fault.path || 'it'}: ${fault.message}`)
    return { folder, about: about as LocalImage }
  } catch (error) {
    throw new Failure(
      'image_damaged',
      `The image "${path}" cannot be used: ${(error as Error).message}. Build it again.`,
      { image: path },
    )
  }
}
