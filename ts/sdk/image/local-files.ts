/** Files of the caller's that an image copies. */
import { InvalidArgumentError, UnsupportedError } from '../errors.ts'
import { localFailure } from '../local/failure.ts'

/** One file, folder or link; `path` is relative to the copied folder, with `/`, and empty for what is copied itself. */
export type LocalEntry = { readonly path: string; readonly localPath: string } & (
  | { readonly type: 'file'; readonly mode: number; readonly sizeBytes: number }
  | { readonly type: 'folder'; readonly mode: number }
  | { readonly type: 'link'; readonly to: string }
)

/** A module of Node or Bun, which a browser has none of. */
export const builtin = <Name extends 'fs' | 'path' | 'zlib' | 'crypto'>(name: Name) => {
  const found = globalThis.process?.getBuiltinModule?.(`node:${name}`)
  if (found !== undefined) return found
  throw new UnsupportedError('Local files are read under Bun and Node from 20.16 on only. Run this program there.')
}

/** What is at a path and below it, folders before what they hold, in the order of their names. Throws `file_not_found`. */
export const localEntries = (src: string): LocalEntry[] => {
  const { join } = builtin('path')
  const found: LocalEntry[] = []
  const visit = (path: string, localPath: string): void => {
    const entry = { path, localPath }
    const { lstatSync, readdirSync, readlinkSync, statSync } = builtin('fs')
    // A link that is named itself means what it leads to; one in a folder stays a link.
    const is = path === '' ? statSync(localPath) : lstatSync(localPath)
    const mode = is.mode & 0o7777
    if (is.isSymbolicLink()) found.push({ ...entry, type: 'link', to: readlinkSync(localPath) })
    else if (is.isFile()) found.push({ ...entry, type: 'file', mode, sizeBytes: is.size })
    else if (is.isDirectory()) {
      found.push({ ...entry, type: 'folder', mode })
      const names = readdirSync(localPath).sort()
      for (const name of names) visit(path === '' ? name : `${path}/${name}`, join(localPath, name))
    } else {
      const what = `"${localPath}" is no file, folder or link and cannot be copied. Leave it out of "${src}".`
      throw new InvalidArgumentError('invalid_argument', what, { data: { path: localPath } })
    }
  }
  reading(src, () => visit('', src))
  return found
}

/** The bytes of a file. Throws `file_not_found` and `permission_denied`. */
export const localBytes = (path: string): Uint8Array => reading(path, () => builtin('fs').readFileSync(path))

/** Does what reads files, and says in our words what the system refuses. */
const reading = <Value>(path: string, read: () => Value): Value => {
  try {
    return read()
  } catch (error) {
    throw localFailure(error, path)
  }
}
