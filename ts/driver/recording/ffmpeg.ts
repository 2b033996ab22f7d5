/** The ffmpeg of this machine. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'

/**
 * The program that the environment names, that of the package `ffmpeg-static` where its file is there, or the one on
 * PATH. The package is looked for beside Backlot, as its dependency would stand: not where Backlot happens to be called.
 * Throws `missing_program`.
 */
export const findFfmpeg = (
  env: Readonly<Record<string, string | undefined>>,
  besides: readonly string[] = [dirname(process.execPath), import.meta.dir],
): string => {
  const named = env[environment.ffmpeg] || undefined
  const program = named ?? packaged(besides) ?? Bun.which('ffmpeg', { PATH: env.PATH ?? '' }) ?? undefined
  if (program !== undefined && existsSync(program)) return program
  const where = named === undefined ? 'is not on PATH' : `is not "${named}", as ${environment.ffmpeg} says`
  throw new Failure('missing_program', `ffmpeg ${where}. Install it, or name it with ${environment.ffmpeg}.`, {
    program: 'ffmpeg',
  })
}

const file = join('node_modules', 'ffmpeg-static', process.platform === 'win32' ? 'ffmpeg.exe' : 'ffmpeg')

/** Its install script may not have been run: then the package is there, and its file is not. */
const packaged = (besides: readonly string[]): string | undefined =>
  besides
    .flatMap(withParents)
    .map((folder) => join(folder, file))
    .find(existsSync)

/** A folder, and those around it. */
const withParents = (folder: string): readonly string[] => {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...withParents(parent)]
}
