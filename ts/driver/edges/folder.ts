/** The folder of a socket: it must belong to the caller, so that nobody else can put a socket there. */
import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from '@backlot/contract/failure'

const isMissing = (error: unknown): boolean => (error as { code?: unknown }).code === 'ENOENT'

const statOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw refused(path, `cannot be looked at: ${Failure.from(error).message}`)
  }
}

const refused = (path: string, what: string): Failure =>
  new Failure('socket_refused', `"${path}" ${what}; name a socket in a folder of your own with \`--socket\`.`, { path })

const ownId = (): number => process.getuid?.() ?? 0

/**
 * Throws `socket_refused` unless nobody else can replace the socket at `path`: its folder and the socket itself, as far
 * as they exist, are the caller's (the folder may be root's, as /tmp is with its sticky bit) and no symbolic links.
 */
export const checkSocket = (path: string): void => {
  const folder = dirname(path)
  const stats = statOf(folder)
  if (stats === undefined) return
  const own = ownId()
  if (stats.isSymbolicLink() && stats.uid !== 0) throw refused(folder, 'is a symbolic link')
  if (!stats.isSymbolicLink() && !stats.isDirectory()) throw refused(folder, 'is not a folder')
  if (stats.uid !== own && stats.uid !== 0) throw refused(folder, `belongs to the user with id ${stats.uid}`)
  const isShared = (stats.mode & 0o022) !== 0 && (stats.mode & 0o1000) === 0
  if (isShared && !stats.isSymbolicLink()) throw refused(folder, 'can be written by others')
  const socket = statOf(path)
  if (socket === undefined) return
  if (!socket.isSocket()) throw refused(path, 'is not a socket')
  if (socket.uid !== own) throw refused(path, `belongs to the user with id ${socket.uid}`)
}

/** Makes the folder of the socket at `path` where it is missing (0700), then checks it as `checkSocket` does. */
export const makeSocketFolder = (path: string, isDefault: boolean): void => {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  checkSocket(path)
  // The default folder is ours alone; a folder that the person named keeps its mode.
  if (isDefault) chmodSync(folder, 0o700)
}
