/** Paths on a device as callers give them. */
import { posix } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { isFolder } from './adb/sync.ts'
import type { AndroidDevice } from './device.ts'

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

/** The absolute path of a folder to run something in. Throws `invalid_argument` where it is none. */
export const folderOf = async (device: AndroidDevice, given: string): Promise<string> => {
  const cwd = resolveDevicePath(given)
  if (cwd === '/') return cwd
  const there = await device.files.stat(cwd, true).catch(() => undefined)
  if (there !== undefined && isFolder(there)) return cwd
  throw new Failure('invalid_argument', `"cwd" is "${cwd}", which is no folder of the device.`, { argument: 'cwd' })
}
