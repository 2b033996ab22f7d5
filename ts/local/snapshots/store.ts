/** Where snapshots stand: a folder each, which is there whole or not at all. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { placesOf } from '@backlot/contract/places'
import type { FileLock } from '@backlot/native'
import { removeTree } from '../state/folder.ts'
import { readRecord, type SandboxRecord, writeRecord } from '../state/record.ts'
import { bytesOf, syncFileSystem, syncNames } from './copying.ts'

/** What is written of a snapshot. */
export interface SnapshotRecord {
  readonly id: string
  readonly name: string | null
  /** The sandbox as it was made, for those that begin with its files. */
  readonly of: SandboxRecord
  /** The user of the host that the files belong to. */
  readonly user: number
  /** Bytes that it takes of the disk, blocks that it shares with others included. */
  readonly size_bytes: number
  /** ISO 8601 in UTC. */
  readonly created_at: string
}

/** What is known of a snapshot; spelled as on the wire. */
export interface SnapshotInfo extends Omit<SnapshotRecord, 'of' | 'user'> {
  /** Name of the sandbox that it is of. */
  readonly sandbox: string
  readonly source: 'local'
  readonly memory: false
}

/** Files that a sandbox begins with. */
export interface FilesSource {
  readonly path: string
  /** The user of the host that they belong to. */
  readonly user: number
  /** The own root that they are changes of; null where they are all that a sandbox has of its own. */
  readonly rootVersion: string | null
  /** Whether they are all there still. */
  isThere(): boolean
}

/** The folder of all snapshots of this user, which is made. */
export const snapshotsFolder = (environment = process.env): string => {
  const folder = join(placesOf(environment).state, 'local-snapshots')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

const recordAt = (store: string, id: string): SnapshotRecord | null =>
  readRecord<SnapshotRecord>(join(store, id, 'record.json'))

/** What others are told of a snapshot. */
export const snapshotInfo = ({ of, user: _, ...known }: SnapshotRecord): SnapshotInfo => ({
  ...known,
  sandbox: of.name,
  source: 'local',
  memory: false,
})

/** The snapshots there are, newest first. */
export const listSnapshots = async (store: string): Promise<SnapshotRecord[]> => {
  await sweepSnapshots(store)
  return snapshotRecords(store).toSorted((one, other) => other.created_at.localeCompare(one.created_at))
}

/** What is written of each snapshot in a folder, which need not be there. */
export const snapshotRecords = (store: string): SnapshotRecord[] =>
  (existsSync(store) ? readdirSync(store) : [])
    .filter((name) => !name.startsWith('.'))
    .flatMap((id) => recordAt(store, id) ?? [])

/** The snapshot of that id, or the newest one of that name; throws `snapshot_not_found`. */
export const findSnapshot = async (store: string, id: string): Promise<SnapshotRecord> => {
  const all = await listSnapshots(store)
  const found = all.find((each) => each.id === id) ?? all.find((each) => each.name === id)
  if (found !== undefined) return found
  throw new Failure(
    'snapshot_not_found',
    `There is no snapshot "${id}". \`backlot local snapshots\` shows those there are.`,
    { id },
  )
}

/** The files of a snapshot. */
export const filesOf = (store: string, { id, user, of }: SnapshotRecord): FilesSource => {
  const path = join(store, id, 'files')
  return { path, user, rootVersion: of.root_version ?? null, isThere: () => existsSync(path) }
}

/** Deletes a snapshot, to no harm of what was made from it; gives whether this call did, and no other. */
export const deleteSnapshot = async (store: string, { id }: SnapshotRecord): Promise<boolean> => {
  const gone = join(store, `.gone-${randomBytes(6).toString('hex')}`)
  try {
    // Who copies from it looks afterwards whether it still stands here.
    renameSync(join(store, id), gone)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
  await removeTree(gone)
  return true
}

/** A snapshot in the making, which nobody sees; disposing of one that was not published removes it. */
export interface UnpublishedSnapshot extends AsyncDisposable {
  readonly id: string
  /** The folder for its files. */
  readonly files: string
  /** Makes it a snapshot that stays; it is on the disk then. */
  publish(about: Pick<SnapshotRecord, 'name' | 'of' | 'user'>): Promise<SnapshotRecord>
}

const lockOf = async (path: string): Promise<FileLock | null> => {
  const { FileLock } = await import('@backlot/native')
  return FileLock.take(`${path}.lock`)
}

/** Begins a snapshot. */
export const beginSnapshot = async (store: string): Promise<UnpublishedSnapshot> => {
  const id = `snap-${randomBytes(6).toString('hex')}`
  const path = join(store, `.making-${id}`)
  // Held until it is over: what nobody holds was left by a program that died.
  const lock = await lockOf(path)
  mkdirSync(join(path, 'files'), { recursive: true, mode: 0o700 })
  return {
    id,
    files: join(path, 'files'),
    async publish(about) {
      const size_bytes = await bytesOf(path)
      const record = { id, ...about, size_bytes, created_at: new Date().toISOString() }
      writeRecord(join(path, 'record.json'), record)
      await syncFileSystem(path)
      renameSync(path, join(store, id))
      syncNames(store)
      return record
    },
    async [Symbol.asyncDispose]() {
      await removeTree(path)
      lock?.release()
    },
  }
}

/** Removes what programs have left that died while they made or deleted a snapshot. */
export const sweepSnapshots = async (store: string): Promise<void> => {
  for (const name of readdirSync(store)) {
    if (name.startsWith('.gone-')) await removeTree(join(store, name))
    if (!name.startsWith('.making-')) continue
    const path = join(store, name.replace(/\.lock$/, ''))
    const lock = await lockOf(path)
    if (lock === null) continue
    await removeTree(path)
    lock.release()
  }
}
