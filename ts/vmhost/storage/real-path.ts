/** What a folder is by whatever path. */
import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The path without symbolic links; of what is not there yet, that which it will have. */
export const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realPath(above), basename(path))
  }
}
