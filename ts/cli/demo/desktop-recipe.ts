/** The session of the recipe `linux-desktop`, as this executable holds it, for a desktop outside of a container. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sessionFiles, sessionFolder } from '@backlot/local'

/** Writes it to a folder, to which its own paths lead then. */
export const writeSession = (folder: string): void => {
  for (const [name, { content, mode }] of Object.entries(sessionFiles())) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    const moved = typeof content === 'string' ? content.replaceAll(sessionFolder, folder) : content
    writeFileSync(join(folder, name), moved, { mode })
  }
}
