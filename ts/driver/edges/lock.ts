/** One daemon a socket: a lock that the kernel lets go of when its holder dies. */

import { basename } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { folderIdentity } from './folder.ts'

/**
 * Takes the lock of the socket at `path`: an abstract Unix socket (unix(7)) named after the folder's device and inode,
 * which needs no file and cannot go stale. Throws `already_running` where another process holds it.
 */
export const lockSocket = (path: string): { release(): void } => {
  const name = `\0backlot-driver:${folderIdentity(path)}:${basename(path)}`
  try {
    const held = Bun.listen({
      unix: name,
      socket: {
        open(socket) {
          socket.end()
        },
        data() {},
      },
    })
    return { release: () => held.stop(true) }
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EADDRINUSE') throw alreadyRunning(path)
    throw error
  }
}

/** The failure of a second daemon. */
export const alreadyRunning = (path: string): Failure =>
  new Failure(
    'already_running',
    `A daemon is already running on "${path}". Use it, or end it with \`backlot-driver stop\`.`,
    { socket: path },
  )
