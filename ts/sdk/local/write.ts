/** Files that are written whole or not at all. */
import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** What a file is made of. */
export type Pieces = Uint8Array | string | AsyncIterable<Uint8Array>

interface Staging {
  /** The path under which it is written first, beside its own. */
  readonly next: string
  readonly mode?: number
  readonly signal?: AbortSignal | undefined
}

/** Puts bytes into the place of the file at the path: beside it, synced, renamed. */
export const writeWhole = (path: string, pieces: Pieces, signal?: AbortSignal): Promise<void> => {
  const next = join(dirname(path), `.${basename(path).slice(0, 200)}.${randomUUID()}.tmp`)
  return staged(pieces, { next, signal }, () => rename(next, path))
}

/** Writes and syncs a file, and lets `place` give it its name; under the first one it is gone then. */
export const staged = async <T>(
  pieces: Pieces,
  { next, mode, signal }: Staging,
  place: () => Promise<T>,
): Promise<T> => {
  try {
    const file = await open(next, 'wx', mode)
    try {
      for await (const piece of isWhole(pieces) ? [pieces] : pieces) {
        signal?.throwIfAborted()
        await file.writeFile(piece)
      }
      await file.sync()
    } finally {
      await file.close()
    }
    signal?.throwIfAborted()
    return await place()
  } finally {
    await rm(next, { force: true }).catch(() => undefined)
  }
}

const isWhole = (pieces: Pieces): pieces is Uint8Array | string =>
  typeof pieces === 'string' || pieces instanceof Uint8Array
