/** An image of the cache directory: its disk becomes a base, its kernel is started directly. */
import { existsSync } from 'node:fs'
import { constants, copyFile, link, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { LocalImage } from '@backlot/contract/vmhost/image'
import { settleAll } from '@backlot/contract/work/settle-all'
import { core } from '../core.ts'
import { executableDisk } from '../disks/executable-disk.ts'
import { syncFile } from '../files/durable.ts'
import { noRoom } from '../files/file-failure.ts'
import type { Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import { findBuilt } from '../images/built.ts'
import { type ImageReference, parseReference, type ReferenceDefaults, referenceText } from '../images/reference.ts'
import { ImageStore } from '../images/store.ts'
import { vmPath } from '../vms/vm-directory.ts'
import { refuseSmaller } from './disk-image.ts'
import type { Plan, Source } from './source.ts'

const serverPort = 8_000
/** Port of SSH, and that of the computer server, which clients look for on every guest. */
const usualPorts = [22, serverPort]

export const localImage: Source = {
  matches: ({ image }) => image !== undefined,
  isLong: false,
  async plan({ image = '' }, host) {
    const { store, found } = await findImage(image, host)
    const plan = await planOf(host, found)
    const { digest } = found
    if (digest === undefined) return plan
    const fill: Plan['fill'] = (folder, storage, bytes, work) =>
      store.exclusively([digest], work, () => plan.fill(folder, storage, bytes, work))
    return { ...plan, fill }
  },
}

/** An image that VMs can be made of. */
interface UsableImage {
  readonly folder: string
  readonly about: LocalImage
  /** What the VM says that it was made of. */
  readonly label: string
  /** Locked in the store while it is used, where it is there. */
  readonly digest?: string
}

/** What is done to make a VM of an image, which stays as it is meanwhile. */
export const planOf = async (host: Host, { folder: source, about, label }: UsableImage): Promise<Plan> => {
  const disk = join(source, about.disk)
  const { virtual_size } = (await core().diskInfo(disk)).disk
  return {
    settings: {
      image: label,
      guestOs: about.os,
      ports: [...new Set([...(about.ports ?? []), ...usualPorts])],
      ...(about.append !== undefined && { append: about.append }),
    },
    identity: await identityOf(source, about),
    hasServer: about.ports?.includes(serverPort) ?? false,
    seeded: about.iso === undefined,
    async fill(folder, storage, bytes, work) {
      refuseSmaller(bytes, virtual_size)
      const laid = host.bases.exclusively(
        storage,
        async () => {
          const base = await host.bases.adopt(storage, `${about.name}_${about.tag}`, disk, about.diskFormat, work)
          await host.bases.overlay(vmPath(folder, 'disk'), base, bytes)
        },
        { signal: work.signal },
      )
      await settleAll([
        laid,
        ...(about.kernel === undefined ? [] : [place(join(source, about.kernel), vmPath(folder, 'kernel'))]),
        ...(about.initrd === undefined ? [] : [place(join(source, about.initrd), vmPath(folder, 'initrd'))]),
        ...(about.iso === undefined ? [] : [place(join(source, about.iso), vmPath(folder, 'iso'))]),
        ...(about.runsExecutable ? [placeExecutable(host, folder, work)] : []),
      ])
    },
  }
}

/** Images are replaced whole: another file is another image. */
const identityOf = async (source: string, { name, tag, disk, kernel, initrd }: LocalImage): Promise<string> => {
  const files = [disk, kernel, initrd].filter((file) => file !== undefined)
  const states = await Promise.all(
    files.map(async (file) => {
      const { size, mtimeMs } = await stat(join(source, file))
      return [file, size, mtimeMs]
    }),
  )
  return JSON.stringify([name, tag, states])
}

/** Gives the VM in `folder` the executable of this service, on a disk of its own. */
export const placeExecutable = async (host: Host, folder: string, { signal }: Task): Promise<void> => {
  const { cacheDirectory } = await host.settings.read()
  const disk = await executableDisk(host, cacheDirectory, signal)
  if (!existsSync(vmPath(folder, 'executable'))) await place(disk, vmPath(folder, 'executable'))
}

/** The image of that name, built here or pulled; throws `image_not_found` and `image_damaged`. */
const findImage = async (image: string, host: Host): Promise<{ store: ImageStore; found: UsableImage }> => {
  const { cacheDirectory, registry, organization } = await host.settings.read()
  const store = new ImageStore(cacheDirectory)
  const [name = '', tag = 'latest', ...more] = image.split(':')
  const isName = [name, tag].every((part) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(part)) && more.length === 0
  const built = isName ? await findBuilt(cacheDirectory, name, tag) : undefined
  if (built !== undefined) return { store, found: { ...built, label: `${name}:${tag}` } }
  const reference = referenceIn(image, { registry, organization })
  const pulled = reference && (await store.find(reference))
  if (pulled !== undefined) return { store, found: { ...pulled, label: referenceText(pulled) } }
  throw new Failure(
    'image_not_found',
    `There is no image "${image}" on this machine. Build one with \`backlot image build\`, pull one with \`backlot image pull\`, or name a disk by its path or address.`,
    { image },
  )
}

const referenceIn = (image: string, defaults: ReferenceDefaults): ImageReference | undefined => {
  try {
    return parseReference(image, defaults)
  } catch {
    return undefined
  }
}

/** Images are replaced whole and never written to: another name for the same file is a copy that takes no room. */
const place = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_FICLONE))
    await syncFile(to)
  } catch (error) {
    throw noRoom(error, to)
  }
}
