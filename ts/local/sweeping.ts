/** The removal of what those have left who were killed: every look at the sandboxes begins with it. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { endLandlock, endRuntime, runtimeFolders } from './isolation/landlock.ts'
import { removeLimits } from './isolation/limits.ts'
import { areSamePids, endNamespace, isAlive, isElsewhere } from './processes.ts'
import { removeTree, SandboxFolder, sandboxFolders, unfinishedRemovals } from './state/folder.ts'
import { tryLock } from './state/locking.ts'
import type { RunRecord } from './state/record.ts'

/** Whether somebody looks after the sandbox, or may do so where nobody here can tell. */
const isLookedAfter = (run: Pick<RunRecord, 'boot' | 'namespace' | 'supervisor'> | null): boolean =>
  run !== null && (isElsewhere(run) || (areSamePids(run) && isAlive(run.supervisor)))

/** Ends what is left of a run whose supervisor is dead. The caller holds the sandbox's lock. */
export const endRun = async (folder: SandboxFolder): Promise<void> => {
  const run = folder.readRun()
  if (run === null) return
  if (areSamePids(run)) await endNamespace(run)
  if (areSamePids(run)) await endLandlock(folder)
  await removeLimits(folder.origin)
  rmSync(folder.run, { force: true })
}

/** Whether the sandbox has outlived what it was for, now that nobody looks after it. */
const isOver = (folder: SandboxFolder): boolean => {
  const record = folder.readRecord()
  if (record === null || !record.is_whole || record.ephemeral) return true
  return record.expires_at !== null && Date.parse(record.expires_at) <= Date.now()
}

const sweepOne = async (folder: SandboxFolder): Promise<void> => {
  const needsNothing = () => {
    const run = folder.readRun()
    // One whose files were copied by a program that died goes on when its lock is taken.
    return (isLookedAfter(run) && run?.is_copied !== true) || (!isOver(folder) && run === null)
  }
  if (needsNothing()) return
  const taken = await tryLock(folder)
  if (taken === null) return
  try {
    if (!folder.exists || isLookedAfter(folder.readRun()) || needsNothing()) return
    await endRun(folder)
    if (isOver(folder)) await folder.remove()
  } finally {
    taken.release()
  }
}

/** Removes locks that nobody holds of sandboxes that there are none of. */
const sweepLocks = async (base: string): Promise<void> => {
  const names = readdirSync(base).flatMap((name) => (name.endsWith('.lock') ? [name.slice(0, -'.lock'.length)] : []))
  for (const name of names) {
    const folder = new SandboxFolder(base, name)
    if (!folder.exists) (await tryLock(folder))?.release()
  }
}

/**
 * Removes the folders for sockets of sandboxes that there are none of: one that was half made was removed as its supervisor
 * went on, which was killed then.
 */
const sweepRuntimes = async (): Promise<void> => {
  const left = runtimeFolders().filter(({ owner }) => !isLookedAfter(owner) && !existsSync(owner.origin))
  await Promise.all(left.map(({ path }) => endRuntime(path)))
}

/** Ends and removes the ephemeral sandboxes whose program is dead, those whose time is over, and halves of sandboxes. */
export const sweep = async (base: string): Promise<void> => {
  await Promise.all(sandboxFolders(base).map(sweepOne))
  await Promise.all(unfinishedRemovals(base).map(removeTree))
  await sweepLocks(base)
  await sweepRuntimes()
}
