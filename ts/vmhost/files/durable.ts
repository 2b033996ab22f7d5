/** Files that are whole whenever the power goes: written beside, synced, renamed. */
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Puts `text` into the place of the file at `path`, for its owner alone unless `mode` says otherwise. */
export const replaceFile = async (path: string, text: string, mode = 0o600): Promise<void> => {
  const folder = dirname(path)
  const next = join(folder, `.${crypto.randomUUID()}.tmp`)
  try {
    await writeSynced(next, text, mode)
    await rename(next, path)
  } catch (error) {
    await rm(next, { force: true })
    throw error
  }
  await syncFolder(folder)
}

/** Writes a file that is not there yet. */
export const writeSynced = async (path: string, text: string, mode = 0o600): Promise<void> => {
  await using file = await open(path, 'wx', mode)
  await file.writeFile(text)
  await file.sync()
}

/** Without this a name in the folder may be lost with the power. */
export const syncFolder = async (path: string): Promise<void> => {
  await using folder = await open(path, 'r')
  await folder.sync()
}

/** Waits until the disk has what was written to the file. */
export const syncFile = async (path: string): Promise<void> => {
  await using file = await open(path, 'r')
  await file.sync()
}

/** Makes a folder and those above it, for the owner alone. */
export const makeFolder = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o700 })
}

/** The text of the file, or undefined where there is none. */
export const readIfThere = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
