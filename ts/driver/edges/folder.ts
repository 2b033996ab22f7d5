/** The folder of a socket: it must belong to the caller, so that nobody else can put a socket there. */
import { Failure } from '@backlot/contract/failure'
import { kinds, type Owner, ownerOf } from './owner.ts'

const look = (path: string): Owner | undefined => {
  try {
    return ownerOf(path)
  } catch (error) {
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
  const folder = folderOf(path)
  const found = look(folder)
  if (found === undefined) return
  const own = ownId()
  const isLink = found.kind === kinds.link
  if (isLink && found.uid !== 0) throw refused(folder, 'is a symbolic link')
  if (!isLink && found.kind !== kinds.folder) throw refused(folder, 'is not a folder')
  if (found.uid !== own && found.uid !== 0) throw refused(folder, `belongs to the user with id ${found.uid}`)
  const isShared = (found.permissions & 0o022) !== 0 && (found.permissions & 0o1000) === 0
  if (isShared && !isLink) throw refused(folder, 'can be written by others')
  const socket = look(path)
  if (socket === undefined) return
  if (socket.kind !== kinds.socket) throw refused(path, 'is not a socket')
  if (socket.uid !== own) throw refused(path, `belongs to the user with id ${socket.uid}`)
}

/** The folder of an absolute path. */
const folderOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')))
