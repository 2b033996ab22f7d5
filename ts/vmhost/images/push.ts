/** Pushes a disk to a registry, in parts of the form that clients of this kind read. */
import { stat } from 'node:fs/promises'
import { images } from '@backlot/contract/limits'
import { fileFailure } from '../files/file-failure.ts'
import { eachOf } from '../side-by-side.ts'
import { annotations } from './layers/contents.ts'
import type { KnownLayers } from './layers/known-layers.ts'
import {
  type Compression,
  digestOfPiece,
  type PackedLayer,
  type Packing,
  type Piece,
  pack,
  packedType,
} from './layers/pack.ts'
import { type Descriptor, type Manifest, mediaTypes } from './registry/manifest.ts'
import { digestOf, type Repository, withRetries } from './registry/registry.ts'
import type { ImageWork } from './store.ts'

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
  readonly known: KnownLayers
}

/**
 * Sends what the registry has not, and gives the digest of the manifest, which stands under each tag then. Throws
 * `registry_refused`, `registry_unreachable` and `disk_full`.
 */
export const pushImage = async (
  repository: Repository,
  image: PushedImage,
  pushing: Pushing,
  work: ImageWork,
): Promise<string> => {
  const { signal } = work
  const persist = <T>(attempt: () => Promise<T>) => withRetries(repository.registry, signal, attempt)
  const send = (bytes: Uint8Array<ArrayBuffer>, digest: string): Promise<void> =>
    persist(async () => {
      if (!(await repository.has(digest, signal))) await repository.send(digest, bytes, signal)
    })
  try {
    work.step('pushing')
    const parts = await pushParts(repository, image.disk, pushing, work)
    const files: Descriptor[] = []
    for (const file of ['kernel', 'initrd'] as const) {
      const path = image[file]
      if (path === undefined) continue
      const bytes = await Bun.file(path).bytes()
      const layer = { mediaType: mediaTypes[file], digest: digestOf(bytes), size: bytes.length }
      await send(bytes, layer.digest)
      files.push({ ...layer, annotations: { [annotations.title]: file } })
    }
    const text = new TextEncoder().encode(JSON.stringify(image.configuration))
    const config = { mediaType: mediaTypes.config, digest: digestOf(text), size: text.length }
    await send(text, config.digest)
    const manifest: Manifest = {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config,
      layers: [...files, ...parts],
    }
    const written = JSON.stringify(manifest)
    for (const tag of pushing.tags) await persist(() => repository.putManifest(tag, written, signal))
    return digestOf(written)
  } catch (error) {
    throw fileFailure(error, pushing.known.folder)
  }
}

/** Pushes the disk in parts; gives their layers in order. */
const pushParts = async (
  repository: Repository,
  path: string,
  { chunkBytes, compression, known }: Pushing,
  { signal, progress }: ImageWork,
): Promise<Descriptor[]> => {
  const { size } = await stat(path)
  const starts = Array.from({ length: Math.ceil(size / chunkBytes) }, (_, index) => index * chunkBytes)
  const read: number[] = []
  const parts: Descriptor[] = []
  // Parts of the same content are one layer, which is sent once.
  const layers = new Map<string, Promise<PackedLayer>>()
  // One after the other: the first is on its way while the next is read.
  let last: Promise<string> = Promise.resolve('')
  await eachOf(starts, images.layersAtOnce, signal, async (offset, index) => {
    const piece = { path, offset, bytes: Math.min(chunkBytes, size - offset) }
    last = last.then(() => digestOfPiece(piece, signal))
    const digest = await last
    const hear = (bytes: number) => {
      read[index] = bytes
      progress(
        read.reduce((all, each) => all + (each ?? 0), 0),
        size,
      )
    }
    const layer = layers.get(digest) ?? pushPiece(repository, piece, digest, compression, known, signal, hear)
    layers.set(digest, layer)
    parts[index] = {
      mediaType: packedType(compression),
      ...(await layer),
      annotations: {
        [annotations.title]: `disk.img.part.${index + 1}`,
        [annotations.number]: String(index + 1),
        [annotations.total]: String(starts.length),
        [annotations.offset]: String(offset),
        [annotations.chunkSize]: String(chunkBytes),
        [annotations.bytes]: String(piece.bytes),
        [annotations.digest]: digest,
      },
    }
    hear(piece.bytes)
  })
  return parts
}

/** Packs a piece and sends it on the way, unless it is known what that gives and the registry has it. */
const pushPiece = async (
  repository: Repository,
  piece: Piece,
  digest: string,
  compression: Compression,
  known: KnownLayers,
  signal: AbortSignal,
  hear: (bytes: number) => void,
): Promise<PackedLayer> => {
  const layer = await withRetries(repository.registry, signal, async () => {
    const before = await known.find(digest, compression)
    if (before !== undefined && (await repository.has(before.digest, signal))) return before
    let packing: Packing | undefined
    const make = () => {
      packing?.[Symbol.dispose]()
      packing = pack(piece, compression, hear)
      return packing
    }
    try {
      return await repository.sendMade(make, signal)
    } finally {
      packing?.[Symbol.dispose]()
    }
  })
  await known.keep(digest, compression, layer)
  return layer
}
