/** The VM host and its images. */

/** Port of the VM host service. */
export const vmHostPort = 7777

/** Prefixes under which the VM host answers; clients of ours use the first. */
export const vmHostPrefixes = ['/svc', '/lume'] as const

/** Bytes of a request body that the VM host reads; longer ones are refused. */
export const longestHostBodyBytes = 1024 * 1024

/** Pixels of the largest screen of a VM: the VNC server of QEMU 7.2 shows no more of a larger one. */
export const largestDisplay = { width: 2560, height: 2048 } as const

/** What the VM host says of itself to clients that ask whether they fit it. */
export const hostInterface = {
  /** The version of the interface whose clients it serves. */
  version: '0.6.0',
  /** Memory of the host that one VM is expected to take. */
  bytesPerVm: 2 ** 30,
} as const

/**
 * Templates of VMs that a location keeps: where there are more, or they take more bytes of the drive, those go that were not
 * used for longest.
 */
export const templatesKept = { most: 12, bytes: 16 * 2 ** 30 } as const

/** Seconds that a guest has to shut down when it is stopped: where nobody says how many, and at most. */
export const stopGrace = { usualSeconds: 11, mostSeconds: 240 } as const

/** Images in registries, and where they come from when nobody says. */
export const images = {
  /** Whose images are pulled and pushed where neither the request nor the configuration says. */
  registry: 'ghcr.io',
  organization: 'trycua',
  /** Megabytes of a disk in one layer of a push. */
  chunkSizeMb: 512,
  /** Bytes of the empty disk of an image that holds a disc to install from; on the drive it takes what is written to it. */
  emptyDiskBytes: 64 * 2 ** 30,
  /** Layers that are fetched or sent at a time. */
  layersAtOnce: 3,
  /** Bytes of a manifest or a configuration that are read. */
  longestManifestBytes: 4 * 1024 * 1024,
  /** Tries without a new byte, the pause before the second, and the silence after which a connection is given up. */
  tries: 5,
  pauseMs: 500,
  idleTimeoutMs: 30_000,
  /** Apple's public list of restore images, and the bytes of it that are read. */
  ipswCatalog: 'https://mesu.apple.com/assets/macos/com_apple_macOSIPSW/com_apple_macOSIPSW.xml',
  longestCatalogBytes: 32 * 1024 * 1024,
} as const

/**
 * Disks that the disk of a VM lies on, from which on a clone is a copy of its own: each costs whoever reads the disk an open
 * file and a lookup.
 */
export const mostDisksBelow = 64
