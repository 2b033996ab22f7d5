/** What is at a path, and moving it elsewhere. */
import { cp, lstat, readlink, rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'

/** What a path itself names: a link is not followed. */
export const infoOf = async (path: string) => {
  const found = await lstat(path)
  const type: 'file' | 'directory' | 'symlink' = found.isDirectory()
    ? 'directory'
    : found.isSymbolicLink()
      ? 'symlink'
      : 'file'
  const target = type === 'symlink' ? { target: await readlink(path) } : {}
  return { name: basename(path), path, size: found.size, type, modified_at: found.mtime.toISOString(), ...target }
}

/** Moves a file or folder; between two file systems it is copied first, and removed when all of it is there. */
export const move = async (from: string, to: string): Promise<void> => {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    const next = `${to}.${crypto.randomUUID()}.tmp`
    try {
      await cp(from, next, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
      await rename(next, to)
    } catch (failed) {
      await rm(next, { recursive: true, force: true })
      throw failed
    }
    await rm(from, { recursive: true })
  }
}
