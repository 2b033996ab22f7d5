/** What the manifest of an image in a registry says that it holds: the parts of a disk, and what starts it. */
import { Failure } from '@backlot/contract/failure'
import { sizeOf, sizePattern } from '@backlot/contract/fields/size'
import { LocalImage } from '@backlot/contract/vmhost/image'
import { Value } from '@sinclair/typebox/value'
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
   * The disk: its parts; one file of any format that `qemu-img` reads; or the layers of a containerDisk, of which the last
   * that has it holds it as a file.
   */
  readonly disk: readonly DiskPart[] | Descriptor | { readonly archives: readonly Descriptor[] }
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

/** Reads manifest and configuration; throws `image_unsupported`. */
export const contentsOf = (image: string, manifest: Manifest, configuration: Configuration): ImageContents => {
  const { layers } = manifest
  const ofType = (type: string) => layers.find(({ mediaType }) => mediaType === type)
  const parts = layers.filter((layer) => layer.annotations?.[annotations.number] !== undefined)
  const others = layers.filter(
    (layer) =>
      !parts.includes(layer) &&
      ![mediaTypes.nvram, mediaTypes.kernel, mediaTypes.initrd].includes(layer.mediaType as never),
  )
  const [only] = others
  const isContainer = others.length > 0 && others.every(({ mediaType }) => archive.test(mediaType))
  const disk =
    parts.length > 0
      ? partsOf(image, parts)
      : isContainer
        ? { archives: others }
        : others.length === 1
          ? only
          : undefined
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

const partsOf = (image: string, layers: readonly Descriptor[]): DiskPart[] => {
  const numberOf = (layer: Descriptor, name: string) => Number(layer.annotations?.[name] ?? Number.NaN)
  const total = numberOf(layers[0] as Descriptor, annotations.total)
  const parts = layers
    .map((layer) => ({
      number: numberOf(layer, annotations.number),
      layer,
      offset: numberOf(layer, annotations.offset),
      bytes: numberOf(layer, annotations.bytes),
      digest: layer.annotations?.[annotations.digest],
    }))
    .sort((a, b) => a.offset - b.offset)
  let end = 0
  for (const { offset, bytes } of parts) {
    if (offset !== end || !isCount(bytes))
      throw unsupported(image, 'the parts of its disk do not say where each belongs')
    end += bytes
  }
  if (parts.length !== total) throw unsupported(image, `it has ${parts.length} of ${total} parts of its disk`)
  if (end > 2 ** 43) throw unsupported(image, 'its disk is larger than 8TB')
  return parts
}

const osOf = ({ os, guestOs }: Configuration): LocalImage['os'] => {
  const known = ['linux', 'windows', 'macOS'] as const
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
