/** Manifests: which layers an image has, and what is said of each (OCI image format 1.1). */

/** One blob. */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  /** Bytes as it travels. */
  readonly size: number
  readonly annotations?: Readonly<Record<string, string>>
  readonly platform?: { readonly os?: string; readonly architecture?: string }
}

export interface Manifest {
  readonly schemaVersion: 2
  readonly mediaType?: string
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
  readonly annotations?: Readonly<Record<string, string>>
}

/** Several manifests, one for each platform. */
export interface Index {
  readonly manifests: readonly Descriptor[]
}

/** Types of what registries hold; those of disks are of the format that clients of this kind know. */
export const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  config: 'application/vnd.trycua.lume.config.v1+json',
  disk: 'application/vnd.trycua.lume.disk.v1',
  nvram: 'application/vnd.trycua.lume.nvram.v1',
  /** A part of a disk in the oldest form of such images: LZ4, in the manifest's order. */
  lz4Part: 'application/octet-stream+lz4',
  ociConfig: 'application/vnd.oci.image.config.v1+json',
  tartConfig: 'application/vnd.cirruslabs.tart.config.v1',
  tartDisk: 'application/vnd.cirruslabs.tart.disk.v2',
  /** A piece of the packed disk, in the first form of tart's images. */
  tartStream: 'application/vnd.cirruslabs.tart.disk.v1',
  kernel: 'application/vnd.backlot.kernel.v1',
  initrd: 'application/vnd.backlot.initrd.v1',
} as const

/** The manifests that are asked for. */
export const manifestTypes = [
  mediaTypes.manifest,
  mediaTypes.index,
  mediaTypes.dockerManifest,
  mediaTypes.dockerList,
] as const

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The entry of an index for this machine; the only one there is where none says what it is for. */
export const ownEntry = ({ manifests }: Index): Descriptor | undefined => {
  const own = manifests.find(({ platform }) => platform?.architecture === architectures[process.arch])
  const plain = manifests.filter(({ platform }) => platform === undefined)
  return own ?? (plain.length === 1 ? plain[0] : undefined)
}
