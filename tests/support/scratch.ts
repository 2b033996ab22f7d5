/** Folders of a test that go with it. */
import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder below the one for temporary files; it is removed when the test that asks for it has ended. */
export const scratchFolder = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `backlot-${name}-`))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
