/** A trial of what starts sandboxes, with a command that does nothing. */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { bwrapCommand } from '../isolation/entering.ts'
import { removeTree } from '../state/folder.ts'
import { makeUpper, ownFiles } from './entering.ts'
import { idsHere } from './ids.ts'
import { rootAt, rootsFolder } from './roots.ts'

/** How a trial ended, and what it said. */
export interface Trial {
  readonly status: number
  readonly errors: string
}

/** Runs a command line for at most ten seconds. */
export const tryCommand = async (words: readonly string[]): Promise<Trial> => {
  const child = Bun.spawn([...words], { cwd: '/', stdin: 'ignore', stdout: 'ignore', stderr: 'pipe', timeout: 10_000 })
  const [errors, status] = await Promise.all([child.stderr.text(), child.exited])
  return { status, errors: errors.trim() }
}

/** Enters a root that is built, with files of its own that are removed again. */
export const tryRoot = async (base: string, version: string): Promise<Trial> => {
  const folder = mkdtempSync(join(rootsFolder(base), '.trial-'))
  try {
    for (const name of ['stage', 'files']) mkdirSync(join(folder, name))
    makeUpper(join(folder, 'files'))
    return await tryCommand(
      bwrapCommand({
        stage: join(folder, 'stage'),
        user: idsHere().uid,
        cgroups: [],
        disk: null,
        ownRoot: { lowers: [rootAt(base, version)], files: join(folder, 'files'), given: [] },
        shown: [],
        before: ownFiles(),
        after: [],
        command: ['true'],
      }),
    )
  } finally {
    await removeTree(folder)
  }
}
