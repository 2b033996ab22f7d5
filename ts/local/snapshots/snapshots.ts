/** Snapshots of the files of sandboxes: taken while their programs are halted, and put back. */
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { statusOf } from '../info.ts'
import { makeDisk } from '../isolation/disk.ts'
import { isRoot } from '../isolation/entering.ts'
import { makeUpper } from '../own-root/entering.ts'
import { parentOf } from '../processes.ts'
import { program } from '../programs.ts'
import { ownFolders, type SandboxFolder, sandboxNotFound } from '../state/folder.ts'
import { locked } from '../state/locking.ts'
import type { SandboxRecord } from '../state/record.ts'
import { changeOwner, copyTree, overFiles, syncFileSystem } from './copying.ts'
import { endExchange, exchange, type FilesPart, readyAt } from './exchange.ts'
import { type StartWatcher, whileHalted } from './halting.ts'
import { beginSnapshot, type FilesSource, type SnapshotRecord, type UnpublishedSnapshot } from './store.ts'

/** Takes a snapshot of a sandbox that runs, is suspended or is stopped, and says of it what `told` gives; it goes on as it was. */
export const takeSnapshot = async (
  store: string,
  folder: SandboxFolder,
  name: string | null,
  startWatcher: StartWatcher,
  change: (of: SandboxRecord) => SandboxRecord = (of) => of,
): Promise<SnapshotRecord> => {
  await using making = await beginSnapshot(store)
  const of = change(await copyInto(making, folder, startWatcher))
  return await making.publish({ name, of, user: folder.user })
}

/** Copies the files of a sandbox for what is made of them next; nothing stays when that is disposed of. */
export const takeFiles = async (
  store: string,
  folder: SandboxFolder,
  startWatcher: StartWatcher,
): Promise<{ readonly of: SandboxRecord; readonly files: FilesSource } & AsyncDisposable> => {
  const making = await beginSnapshot(store)
  try {
    const of = await copyInto(making, folder, startWatcher)
    const files = { path: making.files, user: folder.user, rootVersion: of.root_version, isThere: () => true }
    return { of, files, [Symbol.asyncDispose]: () => making[Symbol.asyncDispose]() }
  } catch (error) {
    await making[Symbol.asyncDispose]()
    throw error
  }
}

const copyInto = (
  making: UnpublishedSnapshot,
  folder: SandboxFolder,
  startWatcher: StartWatcher,
): Promise<SandboxRecord> =>
  locked(folder, async () => {
    const record = folder.readRecord()
    if (record?.is_whole !== true) throw sandboxNotFound(folder.name)
    const run = folder.readRun()
    const status = statusOf(record, run)
    const hasDisk = record.disk_gb !== null && isRoot()
    await whileHalted(folder, status === 'running', startWatcher, async () => {
      if (hasDisk && (run?.init == null || status === 'stopped')) return copyDisk(folder, making.files, partsOf(record))
      if (record.root_version !== null) {
        // A disk is mounted where only the programs that lead to the sandbox see it.
        const outside = hasDisk && run?.init != null ? `/proc/${parentOf(run.init.pid)}/root` : ''
        return copyTree(`${outside}${folder.at('files', upper)}`, join(making.files, upper))
      }
      for (const [name, path] of Object.entries(ownFolders)) {
        // A disk is mounted where only the sandbox sees it.
        const source = hasDisk ? `/proc/${run?.init?.pid}/root${path}` : folder.at('files', name)
        await copyTree(source, join(making.files, name))
      }
    })
    return record
  })

/** The folder with all that a sandbox has changed in its own root. */
const upper = 'upper'

const partsOf = ({ root_version }: SandboxRecord): string[] =>
  root_version === null ? Object.keys(ownFolders) : [upper]

/** Copies the files on a disk that nobody has mounted. */
const copyDisk = async (folder: SandboxFolder, target: string, parts: readonly string[]): Promise<void> => {
  const script =
    'mount -o loop,ro,nosuid,nodev "$1" "$2" && shift 2 && target=$1 && shift && for name; do cp -dR --preserve=mode,ownership,timestamps,links,xattr --sparse=auto "$name" "$target/" || exit 1; done'
  const names = parts.map((name) => folder.at('files', name))
  const words = [program('unshare', 'A disk of a size'), '--mount', '--', 'sh', '-c', script, 'copy-disk']
  await overFiles(folder.at('disk.img'), [...words, folder.at('disk.img'), folder.files, target, ...names])
}

/** Copies files for a new sandbox to `target`, and makes them those of its user; throws `snapshot_not_found`. */
export const copyToSandbox = async (source: FilesSource, target: string, user: number): Promise<void> => {
  await copyTree(source.path, target).catch((error) => {
    throw source.isThere() ? error : deletedMeanwhile(source)
  })
  if (!source.isThere()) throw deletedMeanwhile(source)
  if (source.rootVersion !== null) makeUpper(target)
  else if (isRoot()) await changeOwner(target, user)
}

/**
 * Refuses files for a sandbox with that own root, or with none, and of that user, that are changes of another one; throws
 * `unsupported`.
 */
export const refuseOtherRoot = (source: FilesSource, root: string | null, user: number): void => {
  const { rootVersion } = source
  if (rootVersion === root && (root === null || source.user === user)) return
  const tell = (version: string | null) =>
    version === null ? 'beside programs of this machine' : `in the root ${version}`
  const why =
    rootVersion === root
      ? `they belong to the users from ${source.user} on, and own roots have those from ${user} on now`
      : `they were made ${tell(rootVersion)}, and the sandbox stands ${tell(root)}`
  throw new Failure('unsupported', `These files cannot be put there: ${why}. Start a sandbox from them instead.`, {
    root_version: rootVersion,
  })
}

const deletedMeanwhile = ({ path }: FilesSource): Failure =>
  new Failure('snapshot_not_found', 'The snapshot was deleted while its files were copied; take another one.', { path })

/**
 * Gives a sandbox the files of a snapshot in the place of its own. What needs room is done before `stop` ends its programs;
 * the lock of the sandbox is held.
 */
export const restoreFiles = async (
  folder: SandboxFolder,
  record: SandboxRecord,
  source: FilesSource,
  stop: () => Promise<void>,
): Promise<void> => {
  refuseOtherRoot(source, record.root_version, folder.user)
  const part: FilesPart = record.disk_gb !== null && isRoot() ? 'disk.img' : 'files'
  const ready = readyAt(folder, 'files')
  try {
    await copyToSandbox(source, ready, folder.user)
    if (part === 'disk.img' && record.disk_gb !== null) {
      await makeDisk(readyAt(folder, part), ready, record.disk_gb)
    }
    await syncFileSystem(folder.path)
    await stop()
    await exchange(folder, part)
  } finally {
    await endExchange(folder)
  }
}
