/** A disk file of this machine: copied, because its owner may change it. */
import { readableFile } from '../storage/directory.ts'
import { fillFromImage, inspect } from './disk-image.ts'
import type { Source } from './source.ts'

export const file: Source = {
  matches: ({ image }) => image !== undefined && (image.includes('/') || image.startsWith('~')),
  isLong: false,
  async plan({ image = '' }) {
    const path = await readableFile(image)
    const info = await inspect(path, false, AbortSignal.timeout(30_000))
    return {
      settings: { image: path },
      seeded: true,
      fill: (folder, _storage, bytes, work) => fillFromImage(path, info, folder, bytes, work),
    }
  },
}
