/** Unix sockets whose path may be longer than the kernel takes (unix(7)). */
import { closeSync, openSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { longestSocketPath } from '@backlot/contract/limits'

/** A path by which a socket is reached until it is disposed of. */
export interface ShortPath extends Disposable {
  readonly path: string
}

/** The path of a socket, or a short one through its folder, which is held open meanwhile; throws where the folder is gone. */
export const reachSocket = (path: string): ShortPath => {
  if (Buffer.byteLength(path) <= longestSocketPath) return { path, [Symbol.dispose]: () => undefined }
  const folder = openSync(dirname(path), 'r')
  return { path: `/proc/self/fd/${folder}/${basename(path)}`, [Symbol.dispose]: () => closeSync(folder) }
}
