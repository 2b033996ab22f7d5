/** Keeps what a guest and its hypervisor write from filling the host's disk. */
import { open, truncate } from 'node:fs/promises'

/** Bytes that a log may have, and how many of the last are kept of one that has more. */
export const logBytes = { most: 16 * 2 ** 20, kept: 2 ** 20 } as const

/** Cuts the beginning off a file that has grown too long; its writers append, so that nothing of theirs gets lost. */
export const boundLog = async (path: string, { most, kept } = logBytes): Promise<void> => {
  const tail = await tailOf(path, most, kept)
  if (tail === undefined) return
  await truncate(path)
  await using file = await open(path, 'a')
  await file.write(tail)
}

const tailOf = async (path: string, most: number, kept: number): Promise<Buffer | undefined> => {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { size } = await file.stat()
    if (size <= most) return undefined
    const { buffer, bytesRead } = await file.read(Buffer.alloc(kept), 0, kept, size - kept)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
