/** Makes an image of a disk, a disc or an archive with one, from a path or an address. */
import { constants, copyFile, type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { sizeOf } from '@backlot/contract/fields/size'
import { images } from '@backlot/contract/limits'
import { imageFile, imageFolder, type LocalImage } from '@backlot/contract/vmhost/image'
import { vmName } from '@backlot/contract/vmhost/vm'
import { Value } from '@sinclair/typebox/value'
import { core } from '../../core.ts'
import { download, withoutSecrets } from '../../disks/download.ts'
import { copyDisk } from '../../disks/qemu-img.ts'
import { makeFolder, syncFile, syncFolder, writeSynced } from '../../files/durable.ts'
import { fileFailure } from '../../files/file-failure.ts'
import type { Settings } from '../../host/settings.ts'
import { inspect, largestDisk, packerOf } from '../../sources/disk-image.ts'
import { readableFile } from '../../storage/directory.ts'
import { type BuiltImage, findBuilt, readBuilt } from '../built.ts'
import { unpackInto } from '../layers/unpack.ts'
import { ImageStore, type ImageWork } from '../store.ts'
import { unpackZip } from './zip.ts'

/** What is to be made of what. */
export interface Import {
  /** Absolute path of a file of this machine, or its address. */
  readonly source: string
  readonly name: string
  readonly tag: string
  readonly os: LocalImage['os']
}

/** What of the settings an import needs. */
export type ImportPlaces = Pick<Settings, 'cacheDirectory' | 'cachingEnabled'>

/** The import that is asked for; throws `invalid_argument` for what is no source or no name. */
export const plannedImport = (source: string, as: string | undefined, os: LocalImage['os'] = 'linux'): Import => {
  const invalid = (argument: string, why: string) => new Failure('invalid_argument', why, { argument })
  if (isAddress(source) && !URL.canParse(source)) {
    throw invalid('source', `"${source}" is no address; write it like "https://HOST/PATH".`)
  }
  const [name = '', tag = 'latest', ...more] = (as ?? nameIn(source)).split(':')
  if (![name, tag].every((part) => Value.Check(vmName, part)) || more.length > 0) {
    throw invalid('name', `No image can be called "${as ?? nameIn(source)}"; name it like "NAME:TAG".`)
  }
  return { source, name, tag, os }
}

const isAddress = (source: string): boolean => /^https?:\/\//i.test(source)

/** What an image is called that nobody gave a name: as its file, without what tells its format. */
const nameIn = (source: string): string =>
  basename(isAddress(source) ? new URL(source).pathname : source)
    .replace(/(\.(zip|gz|zst|xz|bz2|qcow2?|img|raw|vmdk|vdi|vhdx?|iso))+$/i, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')

/**
 * Makes the image, in the place of one of that name; VMs that were made of that stay. What it is unpacked and converted
 * in is hidden until it is whole. Throws `file_not_found`, `download_failed`, `disk_unsupported`, `disk_tool_failed`,
 * `disk_full`, `missing_program`, and when cancelled.
 */
export const importImage = async (
  planned: Import,
  { cacheDirectory, cachingEnabled }: ImportPlaces,
  work: ImageWork,
): Promise<BuiltImage> => {
  const store = new ImageStore(cacheDirectory)
  const { folder, lock } = store.push(crypto.randomUUID())
  try {
    await store.prepare()
    await refuseOther(planned, cacheDirectory)
    return await store.exclusively([lock], work, async () => {
      try {
        await makeFolder(folder)
        const make = (path: string) => makeImage(planned, path, folder, work)
        if (isAddress(planned.source)) {
          await download(planned.source, join(cacheDirectory, 'downloads'), cachingEnabled, work, make)
        } else await make(await readableFile(planned.source))
        return await settle(planned, cacheDirectory, folder)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  } catch (error) {
    throw fileFailure(error, store.root)
  }
}

/** `a_b:c` and `a:b_c` have one folder: the one that is there stays. */
const refuseOther = async ({ name, tag }: Import, cacheDirectory: string): Promise<void> => {
  const there = await readBuilt(join(cacheDirectory, imageFolder(name, tag))).catch(() => undefined)
  if (there === undefined || (there.about.name === name && there.about.tag === tag)) return
  throw new Failure(
    'invalid_argument',
    `"${name}:${tag}" would stand in the place of "${there.about.name}:${there.about.tag}"; give it another name.`,
    { argument: 'name' },
  )
}

/** Makes the folder `new` in `folder`: the disk in a format of ours, or an empty one and the disc, and what tells of them. */
const makeImage = async (planned: Import, source: string, folder: string, work: ImageWork): Promise<void> => {
  const image = join(folder, 'new')
  await mkdir(image)
  const path = await unpacked(source, join(folder, 'unpacked'), work)
  const isOurs = path !== source
  const { name, tag, os } = planned
  const usual = { cpu: 2, memory: '2GB', display: '1024x768' }
  const about = { name, tag, os, source: isAddress(planned.source) ? withoutSecrets(planned.source) : planned.source }
  const write = (rest: Pick<LocalImage, 'disk' | 'diskFormat' | 'defaults'> & { iso?: string }) =>
    writeSynced(join(image, imageFile), `${JSON.stringify({ ...about, ...rest }, null, 2)}\n`)
  if (await isDisc(path)) {
    work.step('taking the disc')
    await place(path, join(image, 'install.iso'), isOurs)
    await core().createDisk(join(image, 'disk.qcow2'), images.emptyDiskBytes)
    const defaults = { ...usual, diskSize: sizeOf(images.emptyDiskBytes) }
    return write({ disk: 'disk.qcow2', diskFormat: 'qcow2', iso: 'install.iso', defaults })
  }
  const info = await inspect(path, isAddress(planned.source) || isOurs, work.signal)
  const bytes = info['virtual-size']
  const format = info.format === 'raw' ? 'raw' : 'qcow2'
  const disk = `disk.${format}`
  work.step(info.format === format ? 'copying the disk' : 'converting the disk')
  const isTaken = info.format === 'raw' && (await taken(path, join(image, disk), isOurs))
  if (!isTaken) {
    const target = { path: join(image, disk), format, isDirect: true } as const
    await copyDisk({ path, format: info.format, bytes }, target, work)
  }
  return write({ disk, diskFormat: format, defaults: { ...usual, diskSize: sizeOf(bytes) } })
}

/** The file that is in a packed one, unpacked at `to`; otherwise the file itself. */
const unpacked = async (source: string, to: string, work: ImageWork): Promise<string> => {
  const packer = await packerOf(source)
  const unpack = packer === undefined ? undefined : unpackers[packer]
  if (unpack === undefined) return source
  work.step('unpacking')
  await using file = await open(to, 'wx', 0o600)
  try {
    await unpack(source, file, work)
  } catch (error) {
    work.signal.throwIfAborted()
    if (error instanceof Failure || (error as NodeJS.ErrnoException).syscall !== undefined) throw error
    const why = `it cannot be unpacked: ${(error as Error).message}. Unpack it first, and name the disk.`
    throw new Failure('disk_unsupported', `"${source}" cannot be a disk: ${why}`, { path: source })
  }
  return to
}

type Unpack = (from: string, to: FileHandle, work: ImageWork) => Promise<void>

const unpackStream: Unpack = async (from, to, { signal }) => {
  const { bytes } = await unpackInto([from], to, 0, largestDisk, signal)
  await to.truncate(bytes)
}

/** How what a file is packed with is unpacked; other packers are refused with their names. */
const unpackers: Readonly<Record<string, Unpack>> = {
  zip: async (from, to, { signal, progress }) => void (await unpackZip(from, to, largestDisk, signal, progress)),
  gzip: unpackStream,
  zstd: unpackStream,
  xz: unpackStream,
  bzip2: unpackStream,
}

/** Whether it is a disc image (ISO 9660, 6.7.1): its first descriptor stands in the sector with the number 16. */
const isDisc = async (path: string): Promise<boolean> => {
  await using file = await open(path, 'r')
  const { buffer } = await file.read(Buffer.alloc(5), 0, 5, 16 * 2_048 + 1)
  return buffer.toString('latin1') === 'CD001'
}

/** Whether a raw disk could be taken without reading it: it is ours, or the file system has copies that take no room. */
const taken = async (from: string, to: string, isOurs: boolean): Promise<boolean> => {
  const take = isOurs ? rename(from, to) : copyFile(from, to, constants.COPYFILE_FICLONE_FORCE)
  return take.then(
    () => true,
    () => false,
  )
}

const place = async (from: string, to: string, isOurs: boolean): Promise<void> => {
  if (isOurs) return rename(from, to)
  await copyFile(from, to, constants.COPYFILE_FICLONE)
}

/** Puts the image into its place, whole on the drive before it is seen. */
const settle = async ({ name, tag }: Import, cacheDirectory: string, folder: string): Promise<BuiltImage> => {
  const made = join(folder, 'new')
  for (const file of await readdir(made)) await syncFile(join(made, file))
  await syncFolder(made)
  const target = join(cacheDirectory, imageFolder(name, tag))
  await rename(target, join(folder, 'former')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  await rename(made, target)
  await syncFolder(cacheDirectory)
  const image = await findBuilt(cacheDirectory, name, tag)
  if (image !== undefined) return image
  throw new Failure('image_not_found', `Another has put an image into the place of "${name}:${tag}".`, { image: name })
}
