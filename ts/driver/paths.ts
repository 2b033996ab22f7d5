/** File names that callers give. */
import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { writeWhole } from '@backlot/native/durable'

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

/** Writes a picture whole or not at all. Throws `screenshot_not_written`. */
export const writePicture = async (path: string, bytes: Uint8Array): Promise<void> => {
  await writeWhole(path, bytes).catch((error) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Failure(
      'screenshot_not_written',
      `The screenshot cannot be written to "${path}": ${reason}. Name a file in a folder that exists and can be written.`,
      { path },
    )
  })
}
