/** One program at a time: locks that are files, and that the death of their holder frees. */
import { ConflictError } from '../errors.ts'
import { createFile, makePrivateFolder, readText, removeFile, replaceFile, temporaryPrefix } from './durable.ts'
import { hasEnded, type ProcessIdentity, thisProgram } from './owner.ts'

/** What a lock file holds. */
interface Holder {
  readonly id: string
  readonly owner: ProcessIdentity
}

/** A lock that is held. */
export interface Lock {
  release(): Promise<void>
}

/** Takes the lock of a path, whose folder is made where it is missing; undefined where a living program holds it. */
export const tryLock = async (path: string): Promise<Lock | undefined> => {
  const { dirname } = await import('node:path')
  await makePrivateFolder(dirname(path))
  const mine: Holder = { id: crypto.randomUUID(), owner: await thisProgram() }
  const held: Lock = { release: () => removeFile(path) }
  for (;;) {
    if (await createFile(path, JSON.stringify(mine))) return held
    const holder = await holderOf(path)
    if (holder === undefined) continue
    if (!(await hasEnded(holder.owner))) return undefined
    // Whoever follows a dead holder is alone with it: this second lock bears its id, and the lock changes hands under it only.
    const succession = await tryLock(`${path}.${holder.id}`)
    if (succession === undefined) return undefined
    try {
      if ((await holderOf(path))?.id !== holder.id) continue
      await replaceFile(path, JSON.stringify(mine))
      return held
    } finally {
      await succession.release()
    }
  }
}

/**
 * Removes the locks of a folder whose holders are dead, those for changing hands among them. Each is taken before, as by anybody who
 * wants it, so that none is removed that somebody has or is taking.
 */
export const removeDeadLocks = async (folder: string): Promise<void> => {
  const { readdir } = await import('node:fs/promises')
  const files = await readdir(folder).catch(() => [])
  for (const path of files.filter((file) => !file.startsWith(temporaryPrefix)).map((file) => `${folder}/${file}`)) {
    try {
      const holder = await holderOf(path)
      if (holder === undefined || !(await hasEnded(holder.owner))) continue
      const lock = await tryLock(path)
      await lock?.release()
    } catch {
      // Whoever wants that lock is told what is wrong with it.
    }
  }
}

/** Who holds a lock; undefined where nobody does. */
const holderOf = async (path: string): Promise<Holder | undefined> => {
  const text = await readText(path)
  if (text === undefined) return undefined
  try {
    const { id, owner } = JSON.parse(text) as Holder
    if (/^[0-9a-f-]{36}$/.test(id) && Number.isInteger(owner.pid)) return { id, owner }
  } catch {
    // The next line tells about it.
  }
  throw new ConflictError(
    'state_unusable',
    `The lock "${path}" holds something else. Remove it where no program of yours uses that sandbox.`,
    { data: { path } },
  )
}
