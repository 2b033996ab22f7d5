/** Writing a file whole or not at all: beside it, synced, renamed. */
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Pieces of a file. */
export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * Puts the pieces into the place of the file at `path`, whose rights it keeps unless others are named; one that is a link is followed. Gives the
 * bytes written. What was there stays until all is on the disk.
 */
export const replaceFile = async (
  path: string,
  pieces: Pieces,
  signal?: AbortSignal,
  mode?: number,
): Promise<number> => {
  const target = await realpath(path).catch(() => path)
  const before = await stat(target).catch(() => undefined)
  if (before !== undefined && !before.isFile()) return writeInto(target, 'r+', pieces, signal)
  const folder = dirname(target)
  const next = join(folder, `.${basename(target).slice(0, 200)}.${crypto.randomUUID()}.tmp`)
  try {
    const written = await writeInto(next, 'wx', pieces, signal, mode ?? before?.mode)
    await rename(next, target)
    await using handle = await open(folder, 'r')
    await handle.sync().catch(() => undefined)
    return written
  } catch (error) {
    await rm(next, { force: true })
    throw error
  }
}

/** Adds the pieces to the end of a file, which is made where there is none. Gives the bytes written. */
export const appendFile = (path: string, pieces: Pieces, signal?: AbortSignal, mode?: number): Promise<number> =>
  writeInto(path, 'a', pieces, signal, mode)

const writeInto = async (
  path: string,
  flags: 'wx' | 'a' | 'r+',
  pieces: Pieces,
  signal: AbortSignal | undefined,
  mode = 0o666,
): Promise<number> => {
  await using file = await open(path, flags, mode & 0o7777)
  if (flags !== 'r+' && mode !== 0o666) await file.chmod(mode & 0o7777)
  let written = 0
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  const flush = async () => {
    await writeAll(file, waiting.length === 1 ? (waiting[0] as Uint8Array) : Buffer.concat(waiting))
    waiting = []
    waitingBytes = 0
  }
  for await (const piece of pieces) {
    signal?.throwIfAborted()
    waiting.push(piece)
    waitingBytes += piece.byteLength
    written += piece.byteLength
    if (waitingBytes >= togetherBytes) await flush()
  }
  await flush()
  // A device or a pipe has nothing to sync.
  await file.sync().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') throw error
  })
  return written
}

/** Bytes that are written at once: pieces come as small as a socket gives them. */
const togetherBytes = 1024 * 1024

const writeAll = async (file: FileHandle, piece: Uint8Array): Promise<void> => {
  for (let at = 0; at < piece.byteLength; ) at += (await file.write(piece, at)).bytesWritten
}
