/** An image of the cache directory: its disk becomes a base, its kernel is started directly. */
import { constants, copyFile, link, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { imageFile, imageFolder, LocalImage } from '@backlot/contract/vmhost/image'
import { Value } from '@sinclair/typebox/value'
import { core } from '../core.ts'
import { syncFile } from '../durable.ts'
import { noRoom } from '../file-failure.ts'
import { together } from '../together.ts'
import { vmPath } from '../vm-directory.ts'
import { refuseSmaller } from './disk-image.ts'
import type { Source } from './source.ts'

/** Port of the computer server, which clients look for on every guest, and that of SSH. */
const usualPorts = [22, 8000]

export const localImage: Source = {
  matches: ({ image }) => image !== undefined,
  isLong: false,
  async plan({ image = '' }, host) {
    const { cacheDirectory } = await host.settings.read()
    const { folder: source, about } = await readImage(cacheDirectory, image)
    const disk = join(source, about.disk)
    const { virtual_size } = (await core().diskInfo(disk)).disk
    return {
      settings: {
        image: `${about.name}:${about.tag}`,
        guestOs: about.os,
        ports: [...new Set([...(about.ports ?? []), ...usualPorts])],
        ...(about.append !== undefined && { append: about.append }),
      },
      seeded: true,
      async fill(folder, storage, bytes, work) {
        refuseSmaller(bytes, virtual_size)
        const laid = host.bases.exclusively(storage, async () => {
          const base = await host.bases.adopt(storage, `${about.name}_${about.tag}`, disk, about.diskFormat, work)
          await host.bases.overlay(vmPath(folder, 'disk'), base, bytes)
        })
        await together([
          laid,
          ...(about.kernel === undefined ? [] : [place(join(source, about.kernel), vmPath(folder, 'kernel'))]),
          ...(about.initrd === undefined ? [] : [place(join(source, about.initrd), vmPath(folder, 'initrd'))]),
        ])
      },
    }
  },
}

/** The image of that name, `latest` where it has no tag; throws `image_not_found` and `image_damaged`. */
const readImage = async (cache: string, image: string): Promise<{ folder: string; about: LocalImage }> => {
  const [name = '', tag = 'latest', ...more] = image.split(':')
  const isName = [name, tag].every((part) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(part))
  const folder = join(cache, imageFolder(name, tag))
  const path = join(folder, imageFile)
  const text = isName && more.length === 0 ? await readFile(path, 'utf8').catch(() => undefined) : undefined
  if (text === undefined) {
    throw new Failure(
      'image_not_found',
      `There is no image "${image}" on this machine. Build one with \`backlot image build\`, or name a disk by its path or address.`,
      { image },
    )
  }
  try {
    const about: unknown = JSON.parse(text)
    const fault = Value.Errors(LocalImage, about).First()
    if (fault !== undefined) throw new Error(`${fault.path || 'it'}: ${fault.message}`)
    return { folder, about: about as LocalImage }
  } catch (error) {
    throw new Failure(
      'image_damaged',
      `The image "${path}" cannot be used: ${(error as Error).message}. Build it again.`,
      {
        image,
      },
    )
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
