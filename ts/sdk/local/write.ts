/** Files of the caller's, written whole or not at all. */
import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Puts bytes into the place of the file at the path: beside it, synced, renamed. */
export const writeWhole = async (
  path: string,
  pieces: Uint8Array | AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> => {
  const next = join(dirname(path), `.${basename(path).slice(0, 200)}.${randomUUID()}.tmp`)
  try {
    const file = await open(next, 'wx')
    try {
      for await (const piece of pieces instanceof Uint8Array ? [pieces] : pieces) {
        signal?.throwIfAborted()
        await file.writeFile(piece)
      }
      await file.sync()
    } finally {
      await file.close()
    }
    signal?.throwIfAborted()
    await rename(next, path)
  } catch (error) {
    await rm(next, { force: true })
    throw error
  }
}
