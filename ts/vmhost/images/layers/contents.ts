/** What the manifest of an image in a registry says that it holds: the parts of a disk, and what starts it. */
import { Failure } from '@backlot/contract/failure'
import { sizeOf, sizePattern } from '@backlot/contract/fields/size'
import { LocalImage } from '@backlot/contract/vmhost/image'
import { Value } from '@sinclair/typebox/value'
import { largestDisk } from '../../sources/disk-image.ts'
import { type Descriptor, type Manifest, mediaTypes } from '../registry/manifest.ts'

const prefix = 'org.trycua.lume.'

/** Names of the annotations of a part. */
export const annotations = {
  number: `${prefix}part.number`,
  total: `${prefix}part.total`,
  offset: `${prefix}part.offset`,
  chunkSize: `${prefix}chunk.size`,
  bytes: `${prefix}content.uncompressed-size`,
  digest: `${prefix}content.uncompressed-digest`,
  title: 'org.opencontainers.image.title',
} as const

/** Names of the annotations of tart's parts. */
const tartAnnotations = {
  bytes: 'org.cirruslabs.tart.uncompressed-size',
  digest: 'org.cirruslabs.tart.uncompressed-content-digest',
} as const

/** A piece of a raw disk. */
export interface DiskPart {
  readonly layer: Descriptor
  /** Where it begins, and how long it is, unpacked. */
  readonly offset: number
  readonly bytes: number
  /** Digest of what it is unpacked, where that is said. */
  readonly digest: string | undefined
}

/** What an image is made of. */
export interface ImageContents {
  /**
   * The disk: its parts; one file of any format that `qemu-img` reads; such a file in pieces, each of layers that follow one
   * another as they are, which follow one another once unpacked; or the layers of a containerDisk, of which the last that has it holds it as a file.
   */
  readonly disk:
    | readonly DiskPart[]
    | Descriptor
    | { readonly pieces: readonly (readonly Descriptor[])[] }
    | { readonly archives: readonly Descriptor[] }
  readonly kernel: Descriptor | undefined
  readonly initrd: Descriptor | undefined
  readonly os: LocalImage['os']
  readonly append: string | undefined
  readonly ports: readonly number[] | undefined
  readonly runsExecutable: boolean
  readonly defaults: LocalImage['defaults']
}

/** Layers of containers. */
const archive =
  /^application\/vnd\.(oci\.image\.layer\.v1\.tar|docker\.image\.rootfs\.diff\.tar)(\+gzip|\+zstd|\.gzip)?$/

/** What a configuration may say; anything else in it is left aside. */
interface Configuration {
  readonly os?: unknown
  readonly guestOs?: unknown
  readonly cpuCount?: unknown
  readonly memorySize?: unknown
  readonly diskSize?: unknown
  readonly display?: unknown
  readonly backlot?: { readonly append?: unknown; readonly ports?: unknown; readonly runsExecutable?: unknown }
}

/** Layers that hold what others say in the configuration itself. */
const configurations = [mediaTypes.ociConfig, mediaTypes.tartConfig]

/** The layer that holds the configuration, in images that have one there. */
export const configurationLayer = ({ layers }: Manifest): Descriptor | undefined =>
  layers.find(({ mediaType }) => configurations.includes(mediaType as never))

/** Layers that are neither of a disk nor of a container. */
const besides: readonly string[] = [mediaTypes.nvram, mediaTypes.kernel, mediaTypes.initrd, ...configurations]

/** Reads manifest and configuration; throws `image_unsupported`. */
export const contentsOf = (image: string, manifest: Manifest, configuration: Configuration): ImageContents => {
  const { layers } = manifest
  const ofType = (type: string) => layers.find(({ mediaType }) => mediaType === type)
  const disk = diskOf(image, layers)
  if (disk === undefined) {
    throw unsupported(
      image,
      `its ${layers.length} layers (${[...new Set(layers.map((each) => each.mediaType))].join(', ')}) are no disk`,
    )
  }
  const { backlot } = configuration
  const ports = Value.Check(LocalImage.properties.ports, backlot?.ports) ? backlot?.ports : undefined
  return {
    disk,
    kernel: ofType(mediaTypes.kernel),
    initrd: ofType(mediaTypes.initrd),
    os: osOf(configuration),
    append: typeof backlot?.append === 'string' ? backlot.append : undefined,
    ports: ports as number[] | undefined,
    runsExecutable: backlot?.runsExecutable === true,
    defaults: {
      cpu: isCount(configuration.cpuCount) ? configuration.cpuCount : 2,
      memory: bytesText(configuration.memorySize) ?? '2GB',
      diskSize: bytesText(configuration.diskSize) ?? '0B',
      display: /^\d{2,5}x\d{2,5}$/.test(String(configuration.display)) ? String(configuration.display) : '1024x768',
    },
  }
}

/** The disk in whichever form its maker publishes it. */
const diskOf = (image: string, layers: readonly Descriptor[]): ImageContents['disk'] | undefined => {
  for (const { isPart, read } of partForms) {
    const parts = layers.filter(isPart)
    if (parts.length > 0) return partsOf(image, parts.map(read))
  }
  const pieces = layers.filter(({ mediaType }) => mediaType === mediaTypes.lz4Part)
  if (pieces.length > 0) return { pieces: pieces.map((piece) => [piece]) }
  const stream = layers.filter(({ mediaType }) => mediaType === mediaTypes.tartStream)
  if (stream.length > 0) return { pieces: [stream] }
  const others = layers.filter(({ mediaType }) => !besides.includes(mediaType))
  if (others.length > 0 && others.every(({ mediaType }) => archive.test(mediaType))) return { archives: others }
  return others.length === 1 ? others[0] : undefined
}

/** What a layer says of its part of a disk; who says no offset publishes parts in their order. */
interface AnnotatedPart extends Omit<DiskPart, 'offset'> {
  readonly offset: number | undefined
  /** Number of this part, from one, and how many there are; undefined where the layer does not say. */
  readonly number: number | undefined
  readonly total: number | undefined
}

/** Type of a part that is raw bytes, whatever it is called, with its number: `…tar;part.number=2;part.total=9`. */
const numbered = /^application\/vnd\.oci\.image\.layer\.v1\.tar;part\.number=(\d+);part\.total=(\d+)$/

/** The forms in which disks are published in parts: `trycua/lume`'s, an earlier one of its images, and tart's. */
const partForms: readonly {
  readonly isPart: (layer: Descriptor) => boolean
  readonly read: (layer: Descriptor) => AnnotatedPart
}[] = [
  {
    isPart: (layer) => layer.annotations?.[annotations.number] !== undefined,
    read: (layer) => ({
      layer,
      number: numberIn(layer, annotations.number),
      total: numberIn(layer, annotations.total),
      offset: numberIn(layer, annotations.offset),
      bytes: numberIn(layer, annotations.bytes),
      digest: layer.annotations?.[annotations.digest],
    }),
  },
  {
    isPart: ({ mediaType }) => numbered.test(mediaType),
    read: (layer) => {
      const [, number, total] = numbered.exec(layer.mediaType) ?? []
      return {
        layer,
        number: Number(number),
        total: Number(total),
        offset: undefined,
        bytes: layer.size,
        digest: undefined,
      }
    },
  },
  {
    isPart: ({ mediaType }) => mediaType === mediaTypes.tartDisk,
    read: (layer) => ({
      layer,
      number: undefined,
      total: undefined,
      offset: undefined,
      bytes: numberIn(layer, tartAnnotations.bytes),
      digest: layer.annotations?.[tartAnnotations.digest],
    }),
  },
]

const numberIn = (layer: Descriptor, name: string): number => Number(layer.annotations?.[name] ?? Number.NaN)

const partsOf = (image: string, annotated: readonly AnnotatedPart[]): DiskPart[] => {
  const total = annotated[0]?.total ?? annotated.length
  const inOrder = annotated.toSorted((a, b) => (a.offset ?? a.number ?? 0) - (b.offset ?? b.number ?? 0))
  let end = 0
  const parts = inOrder.map(({ layer, offset = end, bytes, digest }) => {
    if (offset !== end || !isCount(bytes))
      throw unsupported(image, 'the parts of its disk do not say where each belongs')
    end += bytes
    return { layer, offset, bytes, digest }
  })
  if (parts.length !== total) throw unsupported(image, `it has ${parts.length} of ${total} parts of its disk`)
  if (end > largestDisk) throw unsupported(image, 'its disk is larger than 8TB')
  return parts
}

const osOf = ({ os, guestOs }: Configuration): LocalImage['os'] => {
  const known = ['linux', 'windows', 'macOS'] as const
  if (os === 'darwin') return 'macOS'
  return (
    known.find((each) => each === guestOs) ??
    known.find((each) => each.toLowerCase() === String(os).toLowerCase()) ??
    'linux'
  )
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0

/** A size that is bytes, or a number with a unit, as text. */
const bytesText = (value: unknown): string | undefined => {
  if (isCount(value)) return sizeOf(value)
  return typeof value === 'string' && new RegExp(sizePattern).test(value) ? value : undefined
}

/** That an image cannot be read, and why. */
export const unsupported = (image: string, why: string): Failure =>
  new Failure('image_unsupported', `The image "${image}" cannot be used: ${why}. Name one that holds a disk.`, {
    image,
  })
