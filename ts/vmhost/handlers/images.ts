/** Shows and removes images. */
import { sizeOf } from '@backlot/contract/fields/size'
import type { Handlers } from '../host/host.ts'
import { latestRestoreImage } from '../images/ipsw.ts'
import { imagesIn, withUsers } from '../images/listing.ts'
import { prune } from '../images/prune.ts'
import { ImageStore } from '../images/store.ts'

export const listImages: Handlers['listImages'] = async ({ organization }, host) => {
  const images = await imagesIn((await host.settings.read()).cacheDirectory, organization)
  return withUsers(images, await host.store.list(await host.store.storages(undefined)))
}

export const getIpsw: Handlers['getIpsw'] = async (_, host) => ({
  ...(await latestRestoreImage((await host.settings.read()).ipswCatalog)),
})

export const pruneImages: Handlers['pruneImages'] = async (_, host) => {
  const freedBytes = await prune(new ImageStore((await host.settings.read()).cacheDirectory))
  return { message: `Cached images removed; ${sizeOf(freedBytes)} freed`, freedBytes }
}
