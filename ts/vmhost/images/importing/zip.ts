/** The one disk that a zip archive holds. */
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { writeSparse } from '../layers/unpack.ts'

/** What hears how much of it is unpacked. */
type Hear = (doneBytes: number, totalBytes: number) => void

/** Endings of the names of disks and discs. */
const diskName = /\.(qcow2?|img|raw|vmdk|vdi|vhdx?|iso)$/i

/**
 * Unpacks the disk in the archive at `path` into `to`, and gives its name there. Throws an `Error` where the archive is
 * damaged, holds no disk or several, or names a file outside of itself.
 */
export const unpackZip = async (
  path: string,
  to: FileHandle,
  most: number,
  signal: AbortSignal,
  hear: Hear,
): Promise<string> => {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false, strictFileNames: true })
  try {
    const entry = await onlyDisk(zip)
    if (entry.isEncrypted()) throw new Error(`"${entry.fileName}" in it is encrypted`)
    if (entry.uncompressedSize > most) throw new Error(`"${entry.fileName}" in it is larger than ${most} bytes`)
    let [done, sum] = [0, 0]
    for await (const part of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      signal.throwIfAborted()
      await writeSparse(to, part, done)
      sum = crc32(part, sum)
      done += part.length
      hear(done, entry.uncompressedSize)
    }
    if (sum !== entry.crc32) throw new Error(`"${entry.fileName}" in it is damaged`)
    await to.truncate(done)
    return entry.fileName
  } finally {
    zip.close()
  }
}

/** The file that is called as a disk is; where none is, the only file. */
const onlyDisk = async (zip: ZipFile): Promise<Entry> => {
  const files: Entry[] = []
  // Names that lead out of the archive end this with an error.
  for await (const entry of zip.eachEntry()) {
    if (!entry.fileName.endsWith('/')) files.push(entry)
    if (files.length > mostFiles) throw new Error(`it holds more than ${mostFiles} files`)
  }
  const named = files.filter(({ fileName }) => diskName.test(fileName))
  const disks = named.length > 0 ? named : files
  const [disk] = disks
  if (disk !== undefined && disks.length === 1) return disk
  const names = disks.slice(0, 5).map(({ fileName }) => `"${fileName}"`)
  throw new Error(disk === undefined ? 'it holds no file' : `it holds several disks: ${names.join(', ')}`)
}

const mostFiles = 1_000
