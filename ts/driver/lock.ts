/** Locks between processes that the kernel lets go of when their holder dies. */
import { lstatSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** A lock that is held. */
export interface Lock {
  release(): void
}

/**
 * Takes the lock of `purpose` on the file at `path`, whose folder must exist: an abstract Unix socket (unix(7)) named
 * after the folder's device and inode, which needs no file and cannot go stale. `undefined` where another holds it.
 */
export const tryLock = (purpose: string, path: string): Lock | undefined => {
  const { dev, ino } = lstatSync(dirname(path))
  try {
    const held = Bun.listen({
      unix: `\0backlot-${purpose}:${dev}:${ino}:${basename(path)}`,
      socket: {
        open(socket) {
          socket.end()
        },
        data() {},
      },
    })
    return { release: () => held.stop(true) }
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EADDRINUSE') return undefined
    throw error
  }
}
