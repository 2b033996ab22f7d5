/** Images of this machine by their names, for commands that need no service. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { bytesOf } from '@backlot/contract/fields/size'
import { images } from '@backlot/contract/limits'
import type { LocalImage } from '@backlot/contract/vmhost/image'
import { core } from '../core.ts'
import { copyDisk } from '../disks/qemu-img.ts'
import { makeFolder } from '../files/durable.ts'
import type { Settings } from '../host/settings.ts'
import { findBuilt } from './built.ts'
import { KnownLayers } from './layers/known-layers.ts'
import type { Compression } from './layers/pack.ts'
import { pullImage } from './pull.ts'
import { pushImage } from './push.ts'
import { type ImageReference, parseReference, referenceText, repositoryOf } from './reference.ts'
import { Repository } from './registry/registry.ts'
import { ImageStore, type ImageWork } from './store.ts'

/** What of the settings says where images are. */
export type ImageSettings = Pick<Settings, 'cacheDirectory' | 'registry' | 'organization'>

/** An image of this machine. */
export interface NamedImage {
  /** `NAME:TAG` where it was built here, else its whole name. */
  readonly image: string
  /** Digest of its manifest; null where it was built here. */
  readonly digest: string | null
  readonly folder: string
  readonly about: LocalImage
}

/** Pulls an image into the store; throws what pulling throws. */
export const pullNamed = async (image: string, places: ImageSettings, work: ImageWork): Promise<NamedImage> => {
  const reference = parseReference(image, places)
  const store = new ImageStore(places.cacheDirectory)
  return pullImage(reference, store, { isKept: true }, work, async ({ digest, folder, about }) => ({
    image: referenceText(reference),
    digest,
    folder,
    about,
  }))
}

/** How an image is pushed. */
export interface PushOptions {
  /** Megabytes of the disk in one layer. */
  readonly chunkSizeMb?: number
  readonly compression?: Compression
}

/** Pushes an image of this machine under another name, or its own; gives that name and the digest of the manifest. */
export const pushNamed = async (
  image: string,
  target: string,
  places: ImageSettings,
  options: PushOptions,
  work: ImageWork,
): Promise<{ image: string; digest: string }> => {
  const { folder, about } = await inspectImage(image, places)
  if (about.iso !== undefined) {
    throw new Failure(
      'image_unsupported',
      `The image "${image}" holds a disc to install from, for which registries have no form. Install from it, and push the VM.`,
      { image },
    )
  }
  const reference = parseReference(target, places)
  const store = new ImageStore(places.cacheDirectory)
  await store.prepare()
  const { folder: temporary, lock } = store.push(crypto.randomUUID())
  return store.exclusively([lock], work, async () => {
    try {
      await makeFolder(temporary)
      const { disk, bytes } = await rawDisk(folder, about, temporary, work)
      const configuration = configurationOf(about, bytes)
      const [kernel, initrd] = [about.kernel, about.initrd].map((file) => file && join(folder, file))
      const digest = await pushImage(
        new Repository(reference.registry, repositoryOf(reference), 'push'),
        { disk, kernel, initrd, configuration },
        {
          tags: [reference.tag],
          chunkBytes: (options.chunkSizeMb ?? images.chunkSizeMb) * 2 ** 20,
          compression: options.compression ?? 'zstd',
          known: new KnownLayers(store),
        },
        work,
      )
      return { image: referenceText(reference), digest }
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  })
}

/** What the manifest says of the VMs that are made of the image, whose disk has so many bytes. */
const configurationOf = ({ os, defaults, ports = [], append, runsExecutable }: LocalImage, bytes: number) => ({
  os: os === 'macOS' ? 'macOS' : 'linux',
  guestOs: os,
  cpuCount: defaults.cpu,
  memorySize: bytesOf(defaults.memory, 'memory'),
  diskSize: Math.max(bytes, bytesOf(defaults.diskSize, 'diskSize')),
  display: defaults.display,
  backlot: { ports, ...(append !== undefined && { append }), ...(runsExecutable && { runsExecutable: true }) },
})

/** The disk as a raw file, which a qcow2 disk is copied into first. */
const rawDisk = async (folder: string, about: LocalImage, temporary: string, work: ImageWork) => {
  const path = join(folder, about.disk)
  const bytes = (await core().diskInfo(path)).disk.virtual_size
  if (about.diskFormat === 'raw') return { disk: path, bytes }
  const disk = join(temporary, 'disk.raw')
  work.step('copying the disk')
  await copyDisk({ path, format: about.diskFormat, bytes }, { path: disk, format: 'raw' }, work)
  return { disk, bytes }
}

/** The image of that name on this machine; throws `image_not_found` and `image_damaged`. */
export const inspectImage = async (image: string, places: ImageSettings): Promise<NamedImage> => {
  const { built, reference } = await find(image, places)
  if (built !== undefined) return { ...built, image: `${built.about.name}:${built.about.tag}`, digest: null }
  const pulled = await new ImageStore(places.cacheDirectory).find(reference)
  if (pulled === undefined) throw notFound(image)
  return { image: referenceText(pulled), digest: pulled.digest, folder: pulled.folder, about: pulled.about }
}

/** Removes an image of this machine; VMs that were made of it stay. Throws `image_not_found`. */
export const removeImage = async (image: string, places: ImageSettings, work: ImageWork): Promise<void> => {
  const { built, reference } = await find(image, places)
  if (built !== undefined) return rm(built.folder, { recursive: true })
  const store = new ImageStore(places.cacheDirectory)
  const pulled = await store.find(reference)
  if (pulled === undefined) throw notFound(image)
  await store.exclusively([pulled.digest], work, () => store.remove(reference))
}

const find = async (image: string, places: ImageSettings) => {
  const reference: ImageReference = parseReference(image, places)
  const isPlain = !image.includes('/') && !image.includes('@')
  const built = isPlain ? await findBuilt(places.cacheDirectory, reference.name, reference.tag) : undefined
  return { built, reference }
}

const notFound = (image: string): Failure =>
  new Failure('image_not_found', `There is no image "${image}" on this machine; \`backlot image ls\` lists them.`, {
    image,
  })
