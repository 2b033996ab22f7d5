/** Pushes a disk to a registry, in parts of the form that clients of this kind read. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip, createZstdCompress } from 'node:zlib'
import { images } from '@backlot/contract/limits'
import { fileFailure } from '../files/file-failure.ts'
import { annotations } from './layers/contents.ts'
import { type Descriptor, type Manifest, mediaTypes } from './registry/manifest.ts'
import { digestOf, persistently, type Repository } from './registry/registry.ts'
import { eachOf } from './side-by-side.ts'
import type { ImageWork } from './store.ts'

/** How parts can be packed: zstd, or gzip for clients that read nothing else. */
export const compressions = ['zstd', 'gzip'] as const
export type Compression = (typeof compressions)[number]

/** Bytes that a packer gives at a time: its own pieces of 16 KiB cost a third more processor time. */
const chunkSize = 2 ** 20

const packers: Readonly<Record<Compression, { suffix: string; make(): NodeJS.ReadWriteStream }>> = {
  zstd: {
    suffix: '+zstd',
    make: () => createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  },
  gzip: { suffix: '', make: () => createGzip({ chunkSize, level: 4 }) },
}

/** What is pushed. */
export interface PushedImage {
  /** A raw disk. */
  readonly disk: string
  readonly kernel?: string | undefined
  readonly initrd?: string | undefined
  /** What the configuration says: `os`, `cpuCount`, `memorySize` and `diskSize` in bytes, `display`, and ours. */
  readonly configuration: Readonly<Record<string, unknown>>
}

/** How it is pushed. */
export interface Pushing {
  readonly tags: readonly string[]
  readonly chunkBytes: number
  readonly compression: Compression
  /** A folder for parts on their way. */
  readonly folder: string
}

/**
 * Sends what the registry has not, and gives the digest of the manifest, which stands under each tag then. Throws
 * `registry_refused`, `registry_unreachable` and `disk_full`.
 */
export const pushImage = async (
  repository: Repository,
  image: PushedImage,
  { tags, chunkBytes, compression, folder }: Pushing,
  work: ImageWork,
): Promise<string> => {
  const { signal } = work
  const persist = <T>(attempt: () => Promise<T>) => persistently(repository.registry, signal, attempt)
  const send = async (path: string, digest: string, size: number): Promise<void> =>
    persist(async () => {
      if (!(await repository.has(digest, signal))) await repository.send(digest, size, () => Bun.file(path), signal)
    })
  try {
    const { size } = await stat(image.disk)
    const starts = Array.from({ length: Math.ceil(size / chunkBytes) }, (_, index) => index * chunkBytes)
    work.step('pushing')
    let done = 0
    const parts: Descriptor[] = []
    await eachOf(starts, images.layersAtOnce, signal, async (offset, index) => {
      const path = join(folder, `part-${index}`)
      const bytes = Math.min(chunkBytes, size - offset)
      const packed = await pack(image.disk, offset, bytes, path, compression, signal)
      await send(path, packed.digest, packed.size)
      await rm(path)
      parts[index] = {
        mediaType: `${mediaTypes.disk}${packers[compression].suffix}`,
        digest: packed.digest,
        size: packed.size,
        annotations: {
          [annotations.title]: `disk.img.part.${index + 1}`,
          [annotations.number]: String(index + 1),
          [annotations.total]: String(starts.length),
          [annotations.offset]: String(offset),
          [annotations.chunkSize]: String(chunkBytes),
          [annotations.bytes]: String(bytes),
          [annotations.digest]: packed.rawDigest,
        },
      }
      done += bytes
      work.progress(done, size)
    })
    const files: Descriptor[] = []
    for (const file of ['kernel', 'initrd'] as const) {
      const path = image[file]
      if (path === undefined) continue
      const bytes = await Bun.file(path).bytes()
      const layer = { mediaType: mediaTypes[file], digest: digestOf(bytes), size: bytes.length }
      await send(path, layer.digest, layer.size)
      files.push({ ...layer, annotations: { [annotations.title]: file } })
    }
    const text = JSON.stringify(image.configuration)
    const config = { mediaType: mediaTypes.config, digest: digestOf(text), size: Buffer.byteLength(text) }
    await persist(async () => {
      if (await repository.has(config.digest, signal)) return
      await repository.send(config.digest, config.size, () => text, signal)
    })
    const manifest: Manifest = {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config,
      layers: [...files, ...parts],
    }
    const written = JSON.stringify(manifest)
    for (const tag of tags) await persist(() => repository.putManifest(tag, written, signal))
    return digestOf(written)
  } catch (error) {
    throw fileFailure(error, folder)
  }
}

/** Packs a piece of the disk into a file. */
const pack = async (
  disk: string,
  offset: number,
  bytes: number,
  path: string,
  compression: Compression,
  signal: AbortSignal,
): Promise<{ digest: string; size: number; rawDigest: string }> => {
  const raw = createHash('sha256')
  const packed = createHash('sha256')
  let size = 0
  const seen = (hear: (bytes: Buffer) => void) =>
    new Transform({
      transform(part: Buffer, _, next) {
        hear(part)
        next(null, part)
      },
    })
  await pipeline(
    createReadStream(disk, { start: offset, end: offset + bytes - 1, highWaterMark: 2 ** 20 }),
    seen((part) => raw.update(part)),
    packers[compression].make(),
    seen((part) => {
      packed.update(part)
      size += part.length
    }),
    createWriteStream(path, { mode: 0o600 }),
    { signal },
  )
  return { digest: `sha256:${packed.digest('hex')}`, size, rawDigest: `sha256:${raw.digest('hex')}` }
}
