/** The halt of a sandbox's programs while its files are copied. */
import { Failure } from '@backlot/contract/failure'
import { areSamePids, haltPrograms, isElsewhere, thaw } from '../processes.ts'
import type { SandboxFolder } from '../state/folder.ts'
import { type RunRecord, writeRecord } from '../state/record.ts'

/** Starts what lets the programs go on where this process dies; ending it is for when that is done. */
export type StartWatcher = (name: string) => { end(): Promise<void> }

/**
 * Does something while no program of the sandbox runs; its lock is held. One that was suspended stays so. Throws
 * `sandbox_busy` where the programs cannot be halted.
 */
export const whileHalted = async <T>(
  folder: SandboxFolder,
  isRunning: boolean,
  startWatcher: StartWatcher,
  work: () => Promise<T>,
): Promise<T> => {
  const run = folder.readRun()
  if (run !== null && isElsewhere(run)) {
    throw new Failure(
      'sandbox_busy',
      `The sandbox "${folder.name}" runs in another container, from where its programs can be halted; do it there.`,
      { name: folder.name },
    )
  }
  if (!isRunning || run?.init == null) return work()
  const watcher = startWatcher(folder.name)
  try {
    writeRecord(folder.run, { ...run, is_copied: true } satisfies RunRecord)
    await haltPrograms(folder.name, run.init)
    return await work()
  } finally {
    resumePrograms(folder)
    await watcher.end()
  }
}

/** Lets programs go on that were halted for a copy, by this process or by one that died. The sandbox's lock is held. */
export const resumePrograms = (folder: SandboxFolder): void => {
  const run = folder.readRun()
  if (run?.is_copied !== true) return
  if (areSamePids(run) && run.init !== null) thaw(run.init)
  writeRecord(folder.run, { ...run, is_copied: false } satisfies RunRecord)
}
