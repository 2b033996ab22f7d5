/** A folder that somebody names for us to keep things in. */
import { mkdir, mkdtemp, open, rmdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, normalize } from 'node:path'
import { Failure } from '@backlot/contract/failure'

/**
 * The folder that `named` means: absolute, without `.` parts and a slash at its end, `~` standing for the home folder.
 * Throws `invalid_directory` for a relative path and one with `..`; touches nothing.
 */
export const directoryPath = (named: string): string => {
  const path = named === '~' || named.startsWith('~/') ? join(homedir(), named.slice(1)) : named
  const fault = named.includes('\0')
    ? 'it holds a NUL character'
    : !named.isWellFormed()
      ? 'it holds half a surrogate pair'
      : !isAbsolute(path)
        ? 'it is not an absolute path'
        : named.split('/').includes('..')
          ? 'it climbs with ".."'
          : undefined
  if (fault !== undefined) throw unusable(named, fault)
  const plain = normalize(path)
  return plain.length > 1 ? plain.replace(/\/+$/, '') : plain
}

/** Makes the folder if it is absent, and proves by writing that it can be used; throws `invalid_directory`. */
export const prepareDirectory = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { recursive: true })
    // Permission bits do not say whether a write succeeds: root, read-only and network file systems.
    await rmdir(await mkdtemp(join(path, '.backlot-')))
  } catch (error) {
    throw unusable(path, reason(error))
  }
}

const reason = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'a file is in its place'
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return `it cannot be written to (${code})`
  return message
}

const unusable = (path: string, why: string): Failure =>
  new Failure(
    'invalid_directory',
    `The folder "${path}" cannot be used: ${why}. Name a folder by its absolute path where VMs may be kept.`,
    { path },
  )

/** The path of a file that somebody names for us to read; throws `invalid_directory` and `file_not_found`. */
export const readableFile = async (named: string): Promise<string> => {
  const path = directoryPath(named)
  try {
    await using file = await open(path, 'r')
    if (!(await file.stat()).isFile()) throw new Error('it is no file')
  } catch (error) {
    throw new Failure(
      'file_not_found',
      `The file "${path}" cannot be read: ${(error as Error).message}. Name another.`,
      { path },
    )
  }
  return path
}
