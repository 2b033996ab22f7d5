/** The roots that are built: one folder each, named after its recipe's version, shared by all sandboxes of this user. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { snapshotRecords } from '../snapshots/store.ts'
import { removeTree, sandboxFolders } from '../state/folder.ts'

/** Where the roots stand whose sandboxes stand in `base`; the folder is made. */
export const rootsFolder = (base: string): string => {
  const folder = join(dirname(base), 'local-roots')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

/** The folder of a root, whether it is there or not; one that is there is whole. */
export const rootAt = (base: string, version: string): string => join(rootsFolder(base), version)

/** Whether a root is there. */
export const hasRoot = (base: string, version: string): boolean => existsSync(rootAt(base, version))

/** Where a root is while it is built; nothing uses it. */
export const unfinishedAt = (base: string, version: string): string => join(rootsFolder(base), `.building-${version}`)

/** The file that is locked by whoever builds or removes a root. */
export const lockAt = (base: string, version: string): string => join(rootsFolder(base), `${version}.lock`)

/** Whether a sandbox has that root, or a snapshot holds changes of it. */
const isUsed = (base: string, version: string): boolean =>
  sandboxFolders(base).some((folder) => folder.readRecord()?.root_version === version) ||
  snapshotRecords(join(dirname(base), 'local-snapshots')).some(({ of }) => of.root_version === version)

/** Removes the roots of other versions that no sandbox or snapshot needs, and what builds that were killed have left of them. */
export const sweepRoots = async (
  base: string,
  current: string,
  onRemove: (folder: string) => Promise<void> = async () => undefined,
): Promise<string[]> => {
  const { FileLock } = await import('@backlot/native')
  const versions = new Set(
    readdirSync(rootsFolder(base)).flatMap((name) => /^(?:\.building-)?([0-9a-f]{12})$/.exec(name)?.[1] ?? []),
  )
  versions.delete(current)
  const removed: string[] = []
  for (const version of versions) {
    const lock = FileLock.take(lockAt(base, version))
    if (lock === null) continue
    try {
      await removeTree(unfinishedAt(base, version))
      if (isUsed(base, version)) continue
      if (!hasRoot(base, version)) continue
      await onRemove(rootAt(base, version))
      await removeTree(rootAt(base, version))
      removed.push(version)
    } finally {
      lock.release()
    }
  }
  return removed
}
