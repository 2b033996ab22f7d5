/** What an image is made of. */
import type { LocalImage } from '@backlot/contract/vmhost/image'

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
  /** Package that depends on the current kernel. */
  readonly kernel: string
  /** Package with a busybox that needs no libraries. */
  readonly busybox: string
  /** Programs beside busybox: their place in the guest, and the package that has a file of that name. */
  readonly programs: Readonly<Record<string, string>>
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
  /** Empty folders of the root file system, with permission bits. */
  readonly folders: Readonly<Record<string, number>>
  /** Bytes of the root file system as it is made; the guest grows it to its disk. */
  readonly diskBytes: number
  readonly append: string
  readonly defaults: LocalImage['defaults']
  readonly ports: readonly number[]
}
