/** A disk file behind an address. */
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { download, withoutSecrets } from '../disks/download.ts'
import { fillFromImage, inspect } from './disk-image.ts'
import type { Source } from './source.ts'

/** Folder of what was fetched, below the cache directory. */
const folderName = 'downloads'

export const url: Source = {
  matches: ({ image }) => image !== undefined && /^https?:\/\//i.test(image),
  isLong: true,
  async plan({ image = '' }, host) {
    if (!URL.canParse(image)) {
      throw new Failure(
        'invalid_argument',
        `"image" is "${image}", which is no address; write it like "https://HOST/PATH".`,
        { argument: 'image' },
      )
    }
    return {
      settings: { image: withoutSecrets(image) },
      seeded: true,
      async fill(folder, _storage, bytes, work) {
        const { cacheDirectory, cachingEnabled } = await host.settings.read()
        await download(image, join(cacheDirectory, folderName), cachingEnabled, work, async (path) =>
          fillFromImage(path, await inspect(path, true, work.signal), folder, bytes, work),
        )
      },
    }
  },
}
