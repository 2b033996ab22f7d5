/** Images that stand in a cache directory. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { imageFile, LocalImage } from '@backlot/contract/vmhost/image'
import { Value } from '@sinclair/typebox/value'

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
