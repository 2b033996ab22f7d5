/** Files that are whole whenever they are there: written under another name, synced, then put in place. */
import { ConflictError, ResourceError } from '../errors.ts'

/** Whether the system said this of a file. */
export const isSystemError = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes(String((error as { code?: unknown } | undefined)?.code))

/** What the system refuses about a file, as an error of ours that names it; anything else is thrown on as it is. */
const refusalOf = (error: unknown, path: string): unknown => {
  const cause = { data: { path }, cause: error }
  if (isSystemError(error, 'ENOSPC', 'EDQUOT')) {
    return new ResourceError('disk_full', `There is no room left for "${path}". Make room and try again.`, cause)
  }
  if (isSystemError(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR')) {
    const text = `"${path}" cannot be used: the system refuses it. Change its rights, or let BACKLOT_HOME name a folder of your own.`
    return new ConflictError('permission_denied', text, cause)
  }
  return error
}

/** Makes a folder, and those above it, that its user alone may use. */
export const makePrivateFolder = async (path: string): Promise<void> => {
  const { chmod, mkdir } = await import('node:fs/promises')
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    await chmod(path, 0o700)
  } catch (error) {
    throw refusalOf(error, path)
  }
}

/** The text of a file; undefined where there is none. */
export const readText = async (path: string): Promise<string | undefined> => {
  const { readFile } = await import('node:fs/promises')
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined
    throw refusalOf(error, path)
  }
}

/** Replaces a file, or makes it; its user alone may read it. */
export const replaceFile = async (path: string, text: string): Promise<void> => {
  const { rename } = await import('node:fs/promises')
  await placed(path, text, (temporary) => rename(temporary, path))
}

/** Makes a file whole or not at all; false where there is one of that name already, whoever made it. */
export const createFile = async (path: string, text: string): Promise<boolean> => {
  const { link } = await import('node:fs/promises')
  return placed(path, text, async (temporary) => {
    try {
      // A second name for the file is given to one caller only, and appears with all that is in the file.
      await link(temporary, path)
      return true
    } catch (error) {
      if (isSystemError(error, 'EEXIST')) return false
      throw error
    }
  })
}

/** Removes a file; one that is gone already is fine. */
export const removeFile = async (path: string): Promise<void> => {
  const { rm } = await import('node:fs/promises')
  try {
    await rm(path, { force: true })
    await syncFolder(path)
  } catch (error) {
    // Without a folder there is no file.
    if (isSystemError(error, 'ENOENT')) return
    throw refusalOf(error, path)
  }
}

/** Beginning of the names under which files are written. */
export const temporaryPrefix = '.new-'

const placed = async <T>(path: string, text: string, place: (temporary: string) => Promise<T>): Promise<T> => {
  const [{ staged }, { dirname, join }] = await Promise.all([import('../local/write.ts'), import('node:path')])
  const next = join(dirname(path), `${temporaryPrefix}${crypto.randomUUID()}`)
  try {
    const result = await staged(text, { next, mode: 0o600 }, () => place(next))
    await syncFolder(path)
    return result
  } catch (error) {
    throw refusalOf(error, path)
  }
}

/** Makes the names in a file's folder last; Windows has no such call for folders. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return
  const [{ open }, { dirname }] = await Promise.all([import('node:fs/promises'), import('node:path')])
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
