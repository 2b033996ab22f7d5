/** Paths as callers give them. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'

/** The absolute path; `~` is the home folder, and a relative path counts from there. Throws `invalid_argument`. */
export const resolvePath = (path: string): string => {
  if (path.includes('\0')) {
    throw new Failure('invalid_argument', '"path" holds a null character, which no path can.', { argument: 'path' })
  }
  const home = homedir()
  return path === '~' || path.startsWith('~/') ? resolve(home, `.${path.slice(1)}`) : resolve(home, path)
}
