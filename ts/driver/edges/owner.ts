/** The owner, kind and permissions of the file at a path. `node:fs` is loaded only where the system call cannot be made: loading it costs a short program more than all else. */
import { dlopen, ptr } from 'bun:ffi'

/** A file, folder, socket or symbolic link, which is not followed. */
export interface Owner {
  readonly uid: number
  /** What it is, by the values of `S_IFMT`. */
  readonly kind: number
  /** The permissions, with the sticky bit. */
  readonly permissions: number
}

/** Kinds (inode(7)). */
export const kinds = { folder: 0o040000, link: 0o120000, socket: 0o140000 } as const

const kindBits = 0o170000

/** The facts about the file at `path`; undefined where there is none. Throws node's error where they cannot be read. */
export const ownerOf = (path: string): Owner | undefined => {
  const { uid, mode } = fromKernel(path) ?? fromNode(path) ?? {}
  if (uid === undefined || mode === undefined) return undefined
  return { uid, kind: mode & kindBits, permissions: mode & ~kindBits }
}

interface Facts {
  readonly uid: number
  readonly mode: number
}

/** Working folder as `dirfd`, symbolic links as themselves, the basic facts; `struct statx` is alike everywhere (statx(2)). */
const [here, noFollow, basic] = [-100, 0x100, 0x7ff]
const struct = { bytes: 256, uid: 20, mode: 28 } as const

/** The facts by statx(2); undefined where there is no file, and where the C library of this platform has no such call. */
const fromKernel = (path: string): Facts | undefined => {
  asked ??= kernel()
  return asked?.(path)
}

let asked: ((path: string) => Facts | undefined) | null | undefined

const kernel = (): typeof asked => {
  if (process.platform !== 'linux') return null
  try {
    const { symbols } = dlopen('libc.so.6', {
      statx: { args: ['i32', 'ptr', 'i32', 'u32', 'ptr'], returns: 'i32' },
    })
    const facts = new Uint8Array(struct.bytes)
    const view = new DataView(facts.buffer)
    return (path) => {
      const found = symbols.statx(here, ptr(Buffer.from(`${path}\0`)), noFollow, basic, ptr(facts)) === 0
      return found ? { uid: view.getUint32(struct.uid, true), mode: view.getUint16(struct.mode, true) } : undefined
    }
  } catch {
    return null
  }
}

const fromNode = (path: string): Facts | undefined => {
  const { lstatSync } = require('node:fs') as typeof import('node:fs')
  return lstatSync(path, { throwIfNoEntry: false })
}
