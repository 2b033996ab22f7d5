/** Archives that an engine takes: files of ours, and the recipe of an image. */
import { Header } from 'tar'

/** A file of an archive; `uid` and `gid` are root's unless given. */
export interface ArchiveFile {
  readonly path: string
  readonly mode: number
  readonly size: number
  readonly uid?: number
  content(): AsyncIterable<Uint8Array> | readonly Uint8Array[]
}

const block = 512

/** The archive, piece by piece (POSIX.1-1988 ustar). */
export async function* archive(files: readonly ArchiveFile[]): AsyncIterable<Uint8Array> {
  for (const { path, mode, size, uid = 0, content } of files) {
    const header = new Header({ path, mode, size, uid, gid: uid, type: 'File', mtime: new Date(0) })
    const bytes = Buffer.alloc(block)
    header.encode(bytes, 0)
    yield bytes
    let written = 0
    for await (const piece of content()) {
      written += piece.length
      yield piece
    }
    if (written !== size) throw new Error(`"${path}" has ${written} bytes, not ${size}: it changed while it was read.`)
    if (size % block !== 0) yield Buffer.alloc(block - (size % block))
  }
  yield Buffer.alloc(2 * block)
}

/** A file of bytes in memory. */
export const fileOf = (path: string, bytes: Uint8Array, mode = 0o644, uid = 0): ArchiveFile => ({
  path,
  mode,
  uid,
  size: bytes.length,
  content: () => [bytes],
})
