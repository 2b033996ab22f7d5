/** What the layers of images have made of own roots, kept for the next sandbox with the same ones. */
import { mkdirSync, utimesSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { placesOf } from '@backlot/contract/places'
import type { FileLock } from '@backlot/native'
import type { SandboxFolder } from '../state/folder.ts'
import type { StartWatcher } from './halting.ts'
import { takeSnapshot } from './snapshots.ts'
import { deleteSnapshot, listSnapshots, type SnapshotRecord } from './store.ts'

/** The folder of all that is kept for this user, which is made: snapshots, each named after its layers. */
export const layersFolder = (environment = process.env): string => {
  const folder = join(placesOf(environment).state, 'local-layers')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

/** The name of layers with that hash in a root of that version, which belongs to the users from `uid` on. */
export const layersName = (rootVersion: string, uid: number, hash: string): string =>
  new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([rootVersion, uid, hash]))
    .digest('hex')
    .slice(0, 32)

/** What is kept under that name, or null; who asks for it counts as its user. */
export const findLayers = async (store: string, name: string): Promise<SnapshotRecord | null> => {
  const found = (await listSnapshots(store)).find((each) => each.name === name) ?? null
  if (found === null) return null
  const now = new Date()
  try {
    utimesSync(join(store, found.id), now, now)
  } catch {
    // It has just been removed.
    return null
  }
  return found
}

/** The lock of who makes what will have that name, when nobody else makes it; throws `cancelled`. */
export const lockLayers = async (store: string, name: string, signal: AbortSignal): Promise<FileLock> => {
  const { FileLock } = await import('@backlot/native')
  for (;;) {
    const taken = FileLock.take(join(store, `.${name}.lock`))
    if (taken !== null) return taken
    if (signal.aborted) throw new Failure('cancelled', 'Who waited for layers that another program builds has gone.')
    await Bun.sleep(50)
  }
}

/** Bytes that all together may take; what was used longest ago goes first. */
const mostBytes = 10 * 2 ** 30

/** Keeps the files of a sandbox, whose layers have all been carried out, under a name; it goes on. */
export const keepLayers = async (
  store: string,
  folder: SandboxFolder,
  name: string,
  startWatcher: StartWatcher,
): Promise<SnapshotRecord> => {
  // Variables may be secrets, which each sandbox is told anew.
  const kept = await takeSnapshot(store, folder, name, startWatcher, (of) => ({ ...of, env: {}, labels: {} }))
  await pruneLayers(store, mostBytes)
  return kept
}

/** Removes what was used longest ago until the rest takes no more than so many bytes; gives what was removed. */
export const pruneLayers = async (store: string, most: number): Promise<SnapshotRecord[]> => {
  const all = await Promise.all(
    (await listSnapshots(store)).map(async (record) => ({
      record,
      usedAt: (await stat(join(store, record.id)).catch(() => null))?.mtimeMs ?? 0,
    })),
  )
  let sum = 0
  const removed: SnapshotRecord[] = []
  for (const { record } of all.toSorted((one, other) => other.usedAt - one.usedAt)) {
    sum += record.size_bytes
    if (sum <= most) continue
    if (await deleteSnapshot(store, record)) removed.push(record)
  }
  return removed
}
