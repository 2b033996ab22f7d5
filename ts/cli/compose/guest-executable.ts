/** The executable that guests run. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isCompiled } from '../executable.ts'

/** The file of this executable; in a run from the sources the one that was built of them, if there is one. */
export const executableForGuests = (): string | undefined => {
  if (isCompiled()) return process.execPath
  const built = join(import.meta.dir, '../../../dist/backlot')
  return existsSync(built) ? built : undefined
}
