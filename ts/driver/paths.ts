/** File names that callers give. */
import { open, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'

/** Replaces a leading `~` by the home folder. */
export const expandHome = (path: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? home + path.slice(1) : path

/** The absolute path of the argument `name`; a relative one is refused, for it would lie in the server's folder. */
export const absolutePath = (name: string, path: string): string => {
  const expanded = expandHome(path, homedir())
  if (isAbsolute(expanded)) return expanded
  throw new Failure('invalid_argument', `Argument "${name}" is "${path}". Give an absolute path, or one from ~/.`, {
    argument: name,
  })
}

/** Writes a picture whole or not at all: to a neighbour first, then renamed. Throws `screenshot_not_written`. */
export const writePicture = async (path: string, bytes: Uint8Array): Promise<void> => {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.${Date.now().toString(36)}.tmp`)
  try {
    await using file = await open(temporary, 'wx', 0o600)
    await file.writeFile(bytes)
    await file.sync()
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    const reason = error instanceof Error ? error.message : String(error)
    throw new Failure(
      'screenshot_not_written',
      `The screenshot cannot be written to "${path}": ${reason}. Name a file in a folder that exists and can be written.`,
      { path },
    )
  }
}
