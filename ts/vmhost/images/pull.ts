/** Pulls an image of a registry into the store. */
import { copyFile, type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { sizeOf } from '@backlot/contract/fields/size'
import { images } from '@backlot/contract/limits'
import { imageFile, type LocalImage } from '@backlot/contract/vmhost/image'
import { copyDisk } from '../disks/qemu-img.ts'
import { syncFile, syncFolder, writeSynced } from '../files/durable.ts'
import { fileFailure } from '../files/file-failure.ts'
import { eachOf } from '../side-by-side.ts'
import { inspect, largestDisk } from '../sources/disk-image.ts'
import { configurationLayer, contentsOf, type DiskPart, type ImageContents, unsupported } from './layers/contents.ts'
import { KnownLayers } from './layers/known-layers.ts'
import { fetchLayer } from './layers/layers.ts'
import { compressionOf } from './layers/pack.ts'
import { unpackContainerDisk, unpackInto } from './layers/unpack.ts'
import { type ImageReference, referenceText, repositoryOf } from './reference.ts'
import type { Descriptor } from './registry/manifest.ts'
import { corrupt, type FoundManifest, Repository, withRetries } from './registry/registry.ts'
import type { ImageStore, ImageWork, StoredImage } from './store.ts'

/** How an image is pulled. */
export interface Pulling {
  /** Whether it stays when it has been used. */
  readonly isKept: boolean
  /** Throws where nobody here has a use for an image of that system: asked before a layer is fetched. */
  readonly accept?: (os: LocalImage['os']) => void
}

/**
 * Gives `use` the image of that name as its registry has it now; it stays as it is until `use` has settled, and with
 * `isKept` longer. Others who pull the same wait, those of other processes too. Throws `image_not_found`,
 * `image_unsupported`, `layer_corrupt`, `registry_refused`, `registry_unreachable` and `disk_full`.
 */
export const pullImage = async <T>(
  reference: ImageReference,
  store: ImageStore,
  { isKept, accept }: Pulling,
  work: ImageWork,
  use: (image: StoredImage) => Promise<T>,
): Promise<T> => {
  work.step('asking the registry')
  const repository = new Repository(reference.registry, repositoryOf(reference), 'pull')
  const { signal } = work
  try {
    await store.prepare()
    const found = await withRetries(reference.registry, signal, () =>
      repository.manifest(reference.digest ?? reference.tag, signal),
    )
    const layers = [...new Map(found.manifest.layers.map((layer) => [layer.digest, layer])).values()]
    return await store.exclusively([found.digest, ...layers.map(({ digest }) => digest)], work, async () => {
      if (!(await isThere(store.folder(found.digest)))) {
        await assemble(reference, repository, found, store, work, accept)
      }
      const image = await store.name(reference, found.digest)
      try {
        return await use(image)
      } finally {
        if (!isKept) await forget(reference, layers, store)
      }
    })
  } catch (error) {
    throw fileFailure(error, store.root)
  }
}

/** Removes what a host that keeps no images has fetched. */
const forget = async (reference: ImageReference, layers: readonly Descriptor[], store: ImageStore): Promise<void> => {
  await store.remove(reference)
  for (const { digest } of layers) await rm(store.blob(digest), { force: true })
}

/** Makes the folder of an image: hidden until it is whole and synced. */
const assemble = async (
  reference: ImageReference,
  repository: Repository,
  { manifest, digest }: FoundManifest,
  store: ImageStore,
  work: ImageWork,
  accept: Pulling['accept'],
): Promise<void> => {
  const name = referenceText(reference)
  const { signal } = work
  const read = async (blob: Descriptor) =>
    asObject(await withRetries(reference.registry, signal, () => repository.smallBlob(blob, signal)))
  const inLayer = configurationLayer(manifest)
  const configuration = { ...(await read(manifest.config)), ...(inLayer && (await read(inLayer))) }
  const contents = contentsOf(name, manifest, configuration)
  accept?.(contents.os)
  const folder = store.newFolder(digest)
  // A service that died may have left half of it.
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { mode: 0o700 })
  try {
    work.step('pulling')
    const fetch = fetching(repository, manifest.layers, store, work)
    const disk = Array.isArray(contents.disk)
      ? await joinParts(
          reference.registry,
          contents.disk as readonly DiskPart[],
          folder,
          fetch,
          new KnownLayers(store),
          signal,
        )
      : await wholeDisk(name, contents.disk as WholeDisk, folder, fetch, work)
    for (const file of ['kernel', 'initrd'] as const) {
      const layer = contents[file]
      if (layer !== undefined) await copyFile(await fetch(layer), join(folder, file))
    }
    const about = describe(reference, contents, disk)
    await writeSynced(join(folder, imageFile), `${JSON.stringify(about, null, 2)}\n`)
    for (const file of await readdir(folder)) await syncFile(join(folder, file))
    await syncFolder(folder)
    signal.throwIfAborted()
    await rename(folder, store.folder(digest))
    await syncFolder(join(store.root, 'images'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Fetch = (layer: Descriptor) => Promise<string>

/** Fetches layers and tells how much of all of them is here. */
const fetching = (
  repository: Repository,
  layers: readonly Descriptor[],
  store: ImageStore,
  { signal, progress }: ImageWork,
): Fetch => {
  const sizes = new Map(layers.map(({ digest, size }) => [digest, size]))
  const total = sum(sizes.values())
  const here = new Map<string, number>()
  const under = new Map<string, Promise<string>>()
  return (layer) => {
    const begun = under.get(layer.digest)
    if (begun !== undefined) return begun
    const path = fetchLayer(repository, layer, store, signal, (bytes) => {
      here.set(layer.digest, bytes)
      progress(sum(here.values()), total)
    })
    under.set(layer.digest, path)
    return path
  }
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, each) => all + each, 0)

/** A disk of which the registry has parts. */
interface MadeDisk {
  readonly file: string
  readonly format: LocalImage['diskFormat']
  readonly bytes: number
}

const joinParts = async (
  registry: string,
  parts: readonly DiskPart[],
  folder: string,
  fetch: Fetch,
  known: KnownLayers,
  signal: AbortSignal,
): Promise<MadeDisk> => {
  await using disk = await open(join(folder, 'disk.raw'), 'wx', 0o600)
  const bytes = Math.ceil(sum(parts.map((part) => part.bytes)) / 512) * 512
  await disk.truncate(bytes)
  await eachOf(parts, images.layersAtOnce, signal, async ({ layer, offset, bytes, digest }) => {
    const path = await fetch(layer)
    const what = `the disk's part at ${offset}`
    const unpacked = await unpackInto([path], disk, offset, bytes, signal).catch((error) => {
      signal.throwIfAborted()
      if (error instanceof Failure || isOfSystem(error)) throw error
      throw corrupt(registry, `${what} (${(error as Error).message})`)
    })
    if (unpacked.bytes !== bytes || (digest !== undefined && digest !== unpacked.digest)) {
      throw corrupt(registry, `${what}, which has another size or digest unpacked`)
    }
    const compression = await compressionOf(path, layer.mediaType)
    if (compression !== undefined) await known.keep(unpacked.digest, compression, layer)
  })
  await disk.sync()
  return { file: 'disk.raw', format: 'raw', bytes }
}

/** Whether the system refused to write, which is no fault of what was to be written. */
const isOfSystem = (error: unknown): boolean => (error as NodeJS.ErrnoException).syscall !== undefined

/** One layer that is a disk, pieces of it, or layers of a containerDisk. */
type WholeDisk = Exclude<ImageContents['disk'], readonly DiskPart[]>

const wholeDisk = async (
  name: string,
  source: WholeDisk,
  folder: string,
  fetch: Fetch,
  work: ImageWork,
): Promise<MadeDisk> => {
  const path = join(folder, '.unpacked')
  {
    await using file = await open(path, 'wx', 0o600)
    const bytes = await unpackDisk(name, source, file, fetch, work)
    await file.truncate(bytes)
  }
  const info = await inspect(path, true, work.signal)
  const bytes = info['virtual-size']
  if (info.format === 'qcow2' || info.format === 'raw') {
    await rename(path, join(folder, `disk.${info.format}`))
    return { file: `disk.${info.format}`, format: info.format, bytes }
  }
  const target = { path: join(folder, 'disk.qcow2'), format: 'qcow2' as const }
  work.step('converting the disk')
  await copyDisk({ path, format: info.format, bytes }, target, work)
  await rm(path)
  return { file: 'disk.qcow2', format: 'qcow2', bytes }
}

/** Unpacks the disk into the empty file; gives its bytes. */
const unpackDisk = async (
  name: string,
  source: WholeDisk,
  file: FileHandle,
  fetch: Fetch,
  { step, signal }: ImageWork,
): Promise<number> => {
  const unpacking = async <T>(
    layers: readonly Descriptor[],
    unpack: (...paths: string[]) => Promise<T>,
  ): Promise<T> => {
    const blobs: string[] = []
    for (const layer of layers) blobs.push(await fetch(layer))
    step('unpacking')
    return await unpack(...blobs).catch((error) => {
      signal.throwIfAborted()
      if (error instanceof Failure || isOfSystem(error)) throw error
      throw unsupported(name, `its layer cannot be unpacked: ${(error as Error).message}`)
    })
  }
  if ('archives' in source) {
    for (const layer of source.archives.toReversed()) {
      const found = await unpacking([layer], (path) => unpackContainerDisk(path, file, largestDisk, signal))
      if (found !== undefined) return found.bytes
    }
    throw unsupported(name, 'none of its layers has a file below "disk/"')
  }
  let end = 0
  for (const layers of 'pieces' in source ? source.pieces : [[source]]) {
    end += (await unpacking(layers, (...paths) => unpackInto(paths, file, end, largestDisk - end, signal))).bytes
  }
  return end
}

const describe = (reference: ImageReference, contents: ImageContents, disk: MadeDisk): LocalImage => ({
  name: reference.name,
  tag: reference.tag,
  os: contents.os,
  ...(contents.kernel !== undefined && { kernel: 'kernel' }),
  ...(contents.initrd !== undefined && { initrd: 'initrd' }),
  ...(contents.append !== undefined && { append: contents.append }),
  disk: disk.file,
  diskFormat: disk.format,
  defaults: {
    ...contents.defaults,
    diskSize: contents.defaults.diskSize === '0B' ? sizeOf(disk.bytes) : contents.defaults.diskSize,
  },
  ...(contents.ports !== undefined && { ports: [...contents.ports] }),
  ...(contents.runsExecutable && { runsExecutable: true }),
})

const asObject = (bytes: Buffer): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    // Plain files come with an empty configuration, or one that is no JSON.
    return {}
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
