/** The film of a recording: the native encoder's, else one of ffmpeg. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { environment, recording as limits } from '@backlot/contract/limits'
import type { Driver } from '../driver.ts'

/** How a film stands. */
export interface FilmState {
  /** Why it is not going on as it should; null while it is. */
  readonly error: string | null
}

/** A film that is being made. */
export interface Film {
  state(): FilmState
  /** Finishes the file; stopping twice is fine. */
  stop(): Promise<FilmState>
}

/** Begins to film the whole display; throws a failure that says why nothing can. */
export const startFilm = async (driver: Driver, path: string): Promise<Film> => {
  const reasons: string[] = []
  for (const start of [() => startNative(driver, path), () => startFfmpeg(driver, path)]) {
    try {
      return await start()
    } catch (error) {
      reasons.push(Failure.from(error).message)
    }
  }
  throw new Failure('missing_program', `There is no film: ${reasons.join(' ')} The turns are recorded all the same.`)
}

/** The native encoder, as far as the core has one. */
interface Encoder {
  readonly Film?: { start(desktop: unknown, path: string): Promise<Film> }
}

const startNative = async (driver: Driver, path: string): Promise<Film> => {
  const { Film: encoder } = (await driver.native()) as Encoder
  if (encoder === undefined) throw new Failure('unsupported_platform', 'The native core has no encoder here.')
  return encoder.start(await driver.desktop(), path)
}

/** The ffmpeg that the environment names, that of the package `ffmpeg-static` where its file is there, or the one on PATH. */
export const findFfmpeg = (env: Readonly<Record<string, string | undefined>>): string | undefined => {
  const named = env[environment.ffmpeg]
  if (named !== undefined && named !== '') return existsSync(named) ? named : undefined
  return packaged() ?? Bun.which('ffmpeg', { PATH: env.PATH ?? '' }) ?? undefined
}

const packaged = (): string | undefined => {
  try {
    const file = join(dirname(Bun.resolveSync('ffmpeg-static/package.json', process.cwd())), 'ffmpeg')
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

/** Ends the program, as its own interrupt does, when standard input closes: also when whoever holds that is killed. */
const leash = `exec 3<&0
"$@" &
film=$!
{ cat <&3; kill -INT $film; sleep ${limits.filmEndsMs / 1_000}; kill -KILL $film; } >/dev/null 2>&1 &
watch=$!
wait $film
status=$?
kill $watch
exit $status`

const startFfmpeg = async (driver: Driver, path: string): Promise<Film> => {
  const program = findFfmpeg(process.env)
  if (program === undefined) {
    const named = process.env[environment.ffmpeg]
    const where = named ? `"${named}" of ${environment.ffmpeg} does not exist` : 'ffmpeg is not on PATH'
    throw new Failure(
      'missing_program',
      `No film by ffmpeg: ${where}; install it, or name it with ${environment.ffmpeg}.`,
    )
  }
  const desktop = await driver.desktop()
  const { width, height } = await desktop.screen()
  const input = ['-f', 'x11grab', '-framerate', String(limits.framesPerSecond), '-video_size', `${width}x${height}`]
  const output = [
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-g',
    String(limits.framesPerSecond),
  ]
  const fragments = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4']
  const even = ['-vf', 'crop=trunc(iw/2)*2:trunc(ih/2)*2']
  const quiet = ['-hide_banner', '-loglevel', 'error', '-nostdin', '-y']
  const child = Bun.spawn({
    cmd: [
      'sh',
      '-c',
      leash,
      'film',
      program,
      ...quiet,
      ...input,
      '-i',
      desktop.display,
      ...even,
      ...output,
      ...fragments,
      path,
    ],
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = new Response(child.stderr).text()
  let state: FilmState = { error: null }
  let isStopping = false
  child.exited.then(async (status) => {
    // Interrupted, it ends with 255 once the file is whole.
    if (isStopping && isFilm(path)) return
    state = {
      error: `ffmpeg ended with status ${status}: ${(await said).trim().split('\n').at(-1) || 'it said nothing'}`,
    }
  })
  return {
    state: () => state,
    async stop() {
      isStopping = true
      await Promise.resolve(child.stdin.end()).catch(() => undefined)
      await child.exited
      return state
    },
  }
}

const isFilm = (path: string): boolean => {
  try {
    return statSync(path).size > 0
  } catch {
    return false
  }
}
