/** Paths on a device as callers give them. */
import { posix } from 'node:path'
import { Failure } from '@backlot/contract/failure'

/** The folder that the shell of a device may write to: `~`, and where relative paths begin. */
export const deviceHome = '/data/local/tmp'

/** The absolute path. Throws `invalid_argument`. */
export const resolveDevicePath = (path: string): string => {
  if (path.includes('\0')) {
    throw new Failure('invalid_argument', '"path" holds a null character, which no path can.', { argument: 'path' })
  }
  const isHome = path === '~' || path.startsWith('~/')
  return posix.resolve(deviceHome, isHome ? `.${path.slice(1)}` : path)
}
