/** Files and folders of ours, which are whole whenever the power goes. */
import { mkdir, open, readFile } from 'node:fs/promises'

export { replaceFile, syncFolder, writeSynced } from '@backlot/native/durable'

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
