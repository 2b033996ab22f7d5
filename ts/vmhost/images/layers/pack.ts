/** Pieces of a disk, packed as they travel. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { constants, createGzip, createZstdCompress } from 'node:zlib'
import { mediaTypes } from '../registry/manifest.ts'
import { firstBytes } from './unpack.ts'

/** How parts can be packed: zstd, or gzip for clients that read nothing else. */
export const compressions = ['zstd', 'gzip'] as const
export type Compression = (typeof compressions)[number]

/** Bytes that are read and packed at a time: fewer cost processor time, more cost memory. */
const chunkSize = 2 ** 18

const packers: Readonly<Record<Compression, { mediaType: string; make(): NodeJS.ReadWriteStream & Destroyable }>> = {
  zstd: {
    mediaType: `${mediaTypes.disk}+zstd`,
    make: () => createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  },
  gzip: { mediaType: mediaTypes.disk, make: () => createGzip({ chunkSize, level: 4 }) },
}

interface Destroyable {
  destroy(): unknown
}

/** The media type of a piece that is packed so. */
export const packedType = (compression: Compression): string => packers[compression].mediaType

/** First bytes of what is packed so. */
const magics: Readonly<Record<Compression, string>> = { zstd: '28b52ffd', gzip: '1f8b' }

/** How the layer at `path` is packed; undefined where that is not as its media type says, or none of ours. */
export const compressionOf = async (path: string, mediaType: string): Promise<Compression | undefined> => {
  const compression = compressions.find((each) => packedType(each) === mediaType)
  return compression !== undefined && (await firstBytes(path)).startsWith(magics[compression]) ? compression : undefined
}

/** A piece of a raw disk. */
export interface Piece {
  readonly path: string
  readonly offset: number
  readonly bytes: number
}

/** A layer, as registries know it. */
export interface PackedLayer {
  readonly digest: string
  readonly size: number
}

/** A piece on its way; disposed of, it reads no further. */
export interface Packing extends Disposable {
  readonly stream: AsyncIterable<Uint8Array>
  /** The layer that it has become, when the stream has ended. */
  layer(): PackedLayer
}

/** Digest of what a piece holds. */
export const digestOfPiece = async ({ path, offset, bytes }: Piece, signal: AbortSignal): Promise<string> => {
  await using file = await open(path, 'r')
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(chunkSize)
  for (let at = 0; at < bytes; ) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, Math.min(chunkSize, bytes - at), offset + at)
    if (bytesRead === 0) throw new Error(`"${path}" ends before byte ${offset + bytes}`)
    hash.update(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
  return `sha256:${hash.digest('hex')}`
}

/** Packs a piece; `hear` is told how many of its bytes were read. */
export const pack = (
  { path, offset, bytes }: Piece,
  compression: Compression,
  hear: (bytes: number) => void,
): Packing => {
  const file = createReadStream(path, { start: offset, end: offset + bytes - 1, highWaterMark: chunkSize })
  const packer = packers[compression].make()
  const hash = createHash('sha256')
  let size = 0
  async function* packed() {
    // Whoever reads the end of it hears of an error on the way.
    for await (const part of pipeline(file, packer, () => undefined) as unknown as AsyncIterable<Buffer>) {
      hash.update(part)
      size += part.length
      hear(file.bytesRead)
      yield part
    }
    if (file.bytesRead !== bytes) throw new Error(`"${path}" ends before byte ${offset + bytes}`)
  }
  return {
    stream: packed(),
    layer: () => ({ digest: `sha256:${hash.digest('hex')}`, size }),
    [Symbol.dispose]() {
      file.destroy()
      packer.destroy()
    },
  }
}
