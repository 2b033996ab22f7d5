/** Disk images of any format, copied into a disk of ours. */
import { open, stat } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { sizeOf } from '@backlot/contract/fields/size'
import { core } from '../core.ts'
import { copyDisk, type ImageInfo, imageInfo } from '../disks/qemu-img.ts'
import { syncFile } from '../files/durable.ts'
import type { Task } from '../host/operations.ts'
import { vmPath } from '../vms/vm-directory.ts'

/** Formats that are read, of those that `qemu-img` knows. */
const formats = ['qcow2', 'raw', 'vmdk', 'vdi', 'vhdx', 'vpc']

/** First bytes of files that only hold an image, packed. */
const packed: Readonly<Record<string, string>> = {
  '1f8b': 'gzip',
  fd377a585a00: 'xz',
  '28b52ffd': 'zstd',
  '504b0304': 'zip',
  '425a68': 'bzip2',
  '04224d18': 'lz4',
}

/** Bytes of the largest disk. */
export const largestDisk = 2 ** 43

/** What the file is packed with; undefined where it is not. */
export const packerOf = async (path: string): Promise<string | undefined> => {
  const start = await firstBytes(path)
  return Object.entries(packed).find(([magic]) => start.startsWith(magic))?.[1]
}

/**
 * Says what image the file is. Throws `disk_unsupported` for what is none, for one that is packed, and, where the file
 * comes from somebody else, for one that names other files of this machine.
 */
export const inspect = async (path: string, isForeign: boolean, signal: AbortSignal): Promise<ImageInfo> => {
  const refuse = (why: string) => new Failure('disk_unsupported', `"${path}" cannot be a disk: ${why}`, { path })
  const packer = await packerOf(path)
  if (packer !== undefined) {
    throw refuse(
      `it is packed with ${packer}. Unpack it first; \`backlot image import\` does so for zip, gzip, zstd, xz and bzip2.`,
    )
  }
  const info = await imageInfo(path, signal)
  if (!formats.includes(info.format)) throw refuse(`its format is ${info.format}. Use ${formats.join(', ')}.`)
  // `qemu-img` would fill the last sector up.
  if (info.format === 'raw' && (await stat(path)).size % 512 !== 0) {
    throw refuse('it has no format that is known, and is no whole number of sectors. Use a qcow2 or raw disk.')
  }
  const { 'data-file': data, extents = [] } = info['format-specific']?.data ?? {}
  // A vmdk may be a list of files, by any path.
  const extent = extents.find(({ filename }) => filename.replace(/^file:/, '') !== path)?.filename
  const named = info['backing-filename'] ?? data ?? extent
  if (isForeign && named !== undefined) {
    throw refuse(`it lies on another file, "${named}", which its address does not bring along. Use one that is whole.`)
  }
  return info
}

/** Throws `invalid_argument` where a disk of so many bytes cannot hold what begins with `needed`. */
export const refuseSmaller = (bytes: number, needed: number): void => {
  if (bytes >= needed) return
  throw new Failure('invalid_argument', `"diskSize" is ${sizeOf(bytes)}; the image needs ${sizeOf(needed)} at least.`, {
    argument: 'diskSize',
  })
}

/** Copies an image into the disk of the VM in `folder` and grows it. */
export const fillFromImage = async (
  path: string,
  info: ImageInfo,
  folder: string,
  bytes: number,
  work: Task,
): Promise<void> => {
  const disk = vmPath(folder, 'disk')
  const needed = info['virtual-size']
  refuseSmaller(bytes, needed)
  work.step('copying the disk')
  await copyDisk({ path, format: info.format, bytes: needed }, { path: disk, format: 'qcow2' }, work)
  await syncFile(disk)
  const size = Math.ceil(needed / 512) * 512
  if (bytes > size) await core().resizeDisk(disk, bytes)
}

const firstBytes = async (path: string): Promise<string> => {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0)
  return buffer.subarray(0, bytesRead).toString('hex')
}
