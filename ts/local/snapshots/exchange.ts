/** The exchange of a sandbox's files for others, which is done or not done wherever it is cut short. */
import { existsSync, renameSync } from 'node:fs'
import { removeTree, type SandboxFolder } from '../state/folder.ts'
import { syncNames } from './copying.ts'

/** What is exchanged: the files themselves, or the disk that they are on. */
export type FilesPart = 'files' | 'disk.img'

const parts: readonly FilesPart[] = ['files', 'disk.img']

/** Where the new ones are made ready; they are on the disk before `exchange`. */
export const readyAt = (folder: SandboxFolder, part: FilesPart): string => folder.at(`${part}.new`)

/** Puts the new ones in the place of the old ones. The sandbox's lock is held, and none of its programs runs. */
export const exchange = async (folder: SandboxFolder, part: FilesPart): Promise<void> => {
  renameSync(folder.at(part), folder.at(`${part}.old`))
  renameSync(readyAt(folder, part), folder.at(part))
  syncNames(folder.path)
  await removeTree(folder.at(`${part}.old`))
}

/** Ends an exchange that was cut short: forward where the old ones had left their place, else back. The lock is held. */
export const endExchange = async (folder: SandboxFolder): Promise<void> => {
  for (const part of parts) {
    const [old, ready] = [folder.at(`${part}.old`), readyAt(folder, part)]
    if (existsSync(old) && !existsSync(folder.at(part))) renameSync(ready, folder.at(part))
    for (const path of [ready, old]) if (existsSync(path)) await removeTree(path)
  }
}
