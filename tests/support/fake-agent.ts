/** The agent of Android devices under this machine's Java, with stand-ins for the classes of Android that journal what arrives. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compileJava, hashOf, sourcesIn } from '../../ts/cli/generated/agent-dex.ts'

const root = join(import.meta.dir, '../..')
const kept = join(root, 'target/clients')

/** Puts both into a folder, compiled; what was compiled once is kept. */
export const compileFakeAgent = (folder: string): void => {
  const compiled = join(kept, `fake-agent-${hashOf(root).slice(0, 12)}`)
  if (!existsSync(compiled)) {
    mkdirSync(kept, { recursive: true })
    const made = mkdtempSync(`${compiled}.`)
    compileJava([...sourcesIn(root, 'agent'), ...sourcesIn(root, 'fake-android')], made)
    try {
      renameSync(made, compiled)
    } catch {
      // Whoever was quicker made the same.
      rmSync(made, { recursive: true })
    }
  }
  cpSync(compiled, folder, { recursive: true })
}
