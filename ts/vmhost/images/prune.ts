/** Removes what was pulled. VMs lie on bases of their own, so that none needs it. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../files/durable.ts'
import { fileFailure } from '../files/file-failure.ts'
import { KnownLayers } from './layers/known-layers.ts'
import { digestIn, freedBytes, type ImageStore, namesIn, newPrefix } from './store.ts'

/** Removes every image and layer that nobody uses just now; gives the bytes that the drive has more. */
export const prune = async (store: ImageStore): Promise<number> => {
  try {
    return (
      (await pruneImages(store)) + (await pruneBlobs(store)) + (await prunePushes(store)) + (await pruneKnown(store))
    )
  } catch (error) {
    throw fileFailure(error, store.root)
  }
}

const pruneImages = async (store: ImageStore): Promise<number> => {
  const folder = join(store.root, 'images')
  let freed = 0
  for (const name of await namesIn(folder)) {
    const digest = digestIn(name.replace(newPrefix, ''))
    const lock = store.tryLock(digest)
    if (lock === undefined) continue
    try {
      await removeNames(store, digest)
      freed += await removeFolder(join(folder, name))
    } finally {
      lock.leave()
    }
  }
  return freed
}

/** A name is removed before what it stands for: none ever leads nowhere. */
const removeNames = async (store: ImageStore, digest: string): Promise<void> => {
  const folder = join(store.root, 'refs')
  for (const file of await namesIn(folder)) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => '')
    if (text.includes(`"${digest}"`)) await rm(join(folder, file), { force: true })
  }
  await syncFolder(folder)
}

const pruneBlobs = async (store: ImageStore): Promise<number> => {
  const folder = join(store.root, 'blobs')
  let freed = 0
  for (const name of await namesIn(folder)) {
    const lock = store.tryLock(digestIn(name.replace(/\.part$/, '')))
    if (lock === undefined) continue
    try {
      freed += await freedBytes(join(folder, name))
      await rm(join(folder, name), { force: true })
    } finally {
      lock.leave()
    }
  }
  return freed
}

/** What pushes have left that were killed; of one under way somebody has the lock. */
const prunePushes = async (store: ImageStore): Promise<number> => {
  let freed = 0
  for (const id of await namesIn(join(store.root, 'pushes'))) {
    const { folder, lock: name } = store.push(id)
    const lock = store.tryLock(name)
    if (lock === undefined) continue
    try {
      freed += await removeFolder(folder)
    } finally {
      lock.leave()
    }
  }
  return freed
}

/** Files alone: others may write to the folder just now. */
const pruneKnown = async (store: ImageStore): Promise<number> => {
  const { folder } = new KnownLayers(store)
  let freed = 0
  for (const name of await namesIn(folder)) {
    freed += await freedBytes(join(folder, name))
    await rm(join(folder, name), { force: true })
  }
  return freed
}

const removeFolder = async (path: string): Promise<number> => {
  let freed = 0
  for (const file of await namesIn(path)) freed += await freedBytes(join(path, file))
  await rm(path, { recursive: true, force: true })
  return freed
}
