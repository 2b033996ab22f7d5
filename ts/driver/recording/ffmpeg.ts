/** The ffmpeg of this machine. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'

/**
 * The program that the environment names, that of the package `ffmpeg-static` where its file is there, or the one on
 * PATH. Throws `missing_program`.
 */
export const findFfmpeg = (env: Readonly<Record<string, string | undefined>>): string => {
  const named = env[environment.ffmpeg] || undefined
  const program = named ?? packaged() ?? Bun.which('ffmpeg', { PATH: env.PATH ?? '' }) ?? undefined
  if (program !== undefined && existsSync(program)) return program
  const where = named === undefined ? 'is not on PATH' : `is not "${named}", as ${environment.ffmpeg} says`
  throw new Failure('missing_program', `ffmpeg ${where}. Install it, or name it with ${environment.ffmpeg}.`, {
    program: 'ffmpeg',
  })
}

const packaged = (): string | undefined => {
  try {
    const file = join(dirname(Bun.resolveSync('ffmpeg-static/package.json', process.cwd())), 'ffmpeg')
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}
