/** Files at paths where another program may have put something else. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * The text of a regular file of at most `mostBytes`. No link is followed, and no pipe waited for. Throws the system's error,
 * or one that says what is there instead.
 */
export const readRegularFile = (path: string, mostBytes: number): string => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw new Error(`"${path}" is no regular file.`)
    if (found.size > mostBytes) throw new Error(`"${path}" has ${found.size} bytes, more than ${mostBytes}.`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
