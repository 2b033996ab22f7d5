/** What an image is made of. */
import type { LocalImage } from '@backlot/contract/vmhost/image'

/** A root file system of Debian packages, which somebody else builds. */
export interface DesktopRoot {
  /** Another one for each other root. */
  readonly version: string
  /** Builds it unless it is there. */
  build(onStep: (step: string) => void, signal: AbortSignal): Promise<BuiltRoot>
}

/** A root that is there. */
export interface BuiltRoot {
  readonly folder: string
  /** Words before a command that sees the files as belonging to whom they belong in the guest. */
  readonly asOwner: readonly string[]
}

/** A text that becomes a file of the guest. */
export interface GuestFile {
  readonly text: string
  /** Permission bits; 0o644 when absent. */
  readonly mode?: number
}

/** A small Linux whose kernel is started directly; everything but the texts comes from Debian's packages. */
export interface Recipe {
  readonly name: string
  readonly tag: string
  /** One line, for lists. */
  readonly summary: string
  /** Whether it is laid over the desktop's root of packages; its own programs stand in `guestFolder` then. */
  readonly isOverDesktop?: boolean
  /** Package that depends on the current kernel. */
  readonly kernel: string
  /** Package with a busybox that needs no libraries. */
  readonly busybox: string
  /** Programs beside busybox: their place in the guest, and the package that has a file of that name. */
  readonly programs: Readonly<Record<string, string>>
  /** Libraries that no program above needs, for those that come later: the package that has a file of that name. */
  readonly libraries?: Readonly<Record<string, string>>
  /** Kernel modules, without those that they depend on. */
  readonly modules: {
    /** Loaded in this order before the root file system is mounted. */
    readonly initrd: readonly string[]
    /** Kept on the disk. */
    readonly root: readonly string[]
  }
  /** First program of the initial RAM disk. */
  readonly init: string
  /** Files of the root file system by path. */
  readonly files: Readonly<Record<string, GuestFile>>
  /** Symbolic links by path, each with what it leads to. */
  readonly links?: Readonly<Record<string, string>>
  /** Empty folders of the root file system, with permission bits. */
  readonly folders: Readonly<Record<string, number>>
  /** Bytes of the root file system as it is made; the guest grows it to its disk. */
  readonly diskBytes: number
  readonly append: string
  readonly defaults: LocalImage['defaults']
  readonly ports: readonly number[]
  /** Whether its guest runs this executable. */
  readonly runsExecutable?: boolean
}

/** Where a guest with a root of packages has the programs that bring it up, apart from those of its packages. */
export const guestFolder = 'usr/lib/backlot/guest'
