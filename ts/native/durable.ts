/** Files that are whole whenever they are there: written beside, synced, then put in place. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** What a file is given. */
export type Content = string | Uint8Array

/** What a file is given, and what it is given in parts. */
export type Source = Content | AsyncIterable<Uint8Array>

/** Writes a file that is not there yet, for its owner alone unless `mode` says otherwise. */
export const writeSynced = async (path: string, content: Source, mode = 0o600): Promise<void> => {
  await using file = await open(path, 'wx', mode)
  for await (const part of isWhole(content) ? [content] : content) await file.writeFile(part)
  await file.sync()
}

const isWhole = (content: Source): content is Content => typeof content === 'string' || content instanceof Uint8Array

/** Puts the content into the place of the file at `path`, in a folder that need not be ours to read. */
export const writeWhole = async (path: string, content: Source, mode = 0o600): Promise<void> => {
  const next = beside(path)
  try {
    await writeSynced(next, content, mode)
    await rename(next, path)
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw error
  }
}

/** As `writeWhole`, for who cannot wait for a promise. */
export const writeWholeSync = (path: string, content: Content, mode = 0o600): void => {
  const next = beside(path)
  try {
    const file = openSync(next, 'wx', mode)
    try {
      writeFileSync(file, content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(next, path)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
}

const beside = (path: string): string => join(dirname(path), `.${crypto.randomUUID()}.tmp`)

/** As `writeWhole`, and the file keeps its name when the power goes. */
export const replaceFile = async (path: string, content: Content, mode = 0o600): Promise<void> => {
  await writeWhole(path, content, mode)
  await syncFolder(dirname(path))
}

/** Without this a name in the folder may be lost with the power. */
export const syncFolder = async (path: string): Promise<void> => {
  await using folder = await open(path, 'r')
  await folder.sync()
}
