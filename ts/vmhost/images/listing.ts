/** All images of this machine, as they are shown. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Image, KnownImage } from '@backlot/contract/vmhost/images'
import type { StoredVm } from '../vms/vm-store.ts'
import { listBuilt } from './built.ts'
import { repositoryOf } from './reference.ts'
import { ImageStore } from './store.ts'

/** Those that were built here and those that were pulled; of one organization where one is named. */
export const imagesIn = async (cacheDirectory: string, organization?: string): Promise<KnownImage[]> => {
  const built = (await listBuilt(cacheDirectory)).map(
    async ({ folder, about }): Promise<KnownImage> => ({
      repository: about.name,
      imageId: about.recipe ?? `${about.name}:${about.tag}`,
      registry: null,
      organization: null,
      name: about.name,
      tag: about.tag,
      os: about.os,
      folder,
      bytes: await bytesIn(folder),
      source: about.source ?? null,
    }),
  )
  const pulled = (await new ImageStore(cacheDirectory).list()).map(
    async (image): Promise<KnownImage> => ({
      repository: repositoryOf(image),
      imageId: image.digest,
      registry: image.registry,
      organization: image.organization,
      name: image.name,
      tag: image.tag,
      os: image.about.os,
      folder: image.folder,
      bytes: await bytesIn(image.folder),
      source: null,
    }),
  )
  const all = await Promise.all([...built, ...pulled])
  return all
    .filter((image) => organization === undefined || image.organization === organization)
    .sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** The same with the VMs that were made of each, by what their settings say that they were made of. */
export const withUsers = (images: readonly KnownImage[], vms: readonly StoredVm[]): Image[] =>
  images.map((image) => {
    const { registry, repository, tag } = image
    const label = registry === null ? `${repository}:${tag}` : `${registry}/${repository}:${tag}`
    const users = vms.filter(({ settings }) => settings.image === label)
    return { ...image, users: users.map(({ name, storage }) => ({ name, location: storage.name })) }
  })

const key = ({ repository, tag, registry }: KnownImage): string => `${repository}:${tag} ${registry ?? ''}`

const bytesIn = async (folder: string): Promise<number> => {
  let bytes = 0
  for (const file of await readdir(folder).catch(() => [])) {
    bytes += await stat(join(folder, file)).then(
      ({ blocks }) => blocks * 512,
      () => 0,
    )
  }
  return bytes
}
