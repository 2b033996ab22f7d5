/** The film of a recording: the native encoder's, else one of ffmpeg. */
import { statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { recording as limits } from '@backlot/contract/limits'
import type { Film as NativeFilm, FilmState as NativeState } from '@backlot/native'
import type { Driver } from '../driver.ts'
import { findFfmpeg } from './ffmpeg.ts'

/** How a film stands. */
export interface FilmState {
  /** Why it is not going on as it should; null while it is. */
  readonly error: string | null
  /** What of the display is not in it; null where all is. */
  readonly outside: string | null
}

/** A film that is being made. */
export interface Film {
  /** When its first picture was taken, as well as that is known. */
  readonly startedAt: Date
  state(): FilmState
  /** Finishes the file; stopping twice is fine. */
  stop(): Promise<FilmState>
}

/** Begins to film the whole display; throws a failure that says why nothing can. */
export const startFilm = async (driver: Driver, path: string): Promise<Film> => {
  const reasons: string[] = []
  // For nobody else, as the rest of a recording: both write over what is there. Where it cannot be made, they say so.
  await writeFile(path, '', { mode: 0o600 }).catch(() => undefined)
  for (const start of [() => startNative(driver, path), () => startFfmpeg(driver, path)]) {
    try {
      return await start()
    } catch (error) {
      reasons.push(Failure.from(error).message)
    }
  }
  await rm(path, { force: true }).catch(() => undefined)
  throw new Failure('missing_program', `There is no film: ${reasons.join(' ')} The turns are recorded all the same.`)
}

const startNative = async (driver: Driver, path: string): Promise<Film> => {
  // A core that was named for this process may have none.
  const { Film: encoder } = (await driver.native()) as { readonly Film?: typeof NativeFilm }
  if (encoder === undefined) throw new Failure('unsupported_platform', 'The native core has no encoder here.')
  const film = await encoder.start(await driver.desktop(), path)
  const stateOf = (state: NativeState): FilmState => ({
    error: state.error?.message ?? null,
    outside: outsideOf(state),
  })
  return {
    startedAt: new Date(film.state().started_at),
    state: () => stateOf(film.state()),
    stop: async () => stateOf(await film.stop()),
  }
}

const outsideOf = ({ width, height, screen_width, screen_height }: NativeState): string | null =>
  screen_width <= width && screen_height <= height
    ? null
    : `The screen became ${screen_width}x${screen_height}, and the film shows ${width}x${height} of it. Call start_recording again to film all of it.`

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

/** Arguments of ffmpeg that films a display into a file which plays whenever its making ends. */
const ffmpegArguments = (display: string, { width, height }: { width: number; height: number }, path: string) => {
  const rate = String(limits.framesPerSecond)
  return [
    ...['-hide_banner', '-loglevel', 'error', '-nostdin', '-y'],
    ...['-f', 'x11grab', '-framerate', rate, '-video_size', `${width}x${height}`, '-i', display],
    // The encoder takes no odd sizes.
    ...['-vf', 'crop=trunc(iw/2)*2:trunc(ih/2)*2'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p', '-g', rate],
    ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof', '-flush_packets', '1', '-f', 'mp4'],
    path,
  ]
}

const startFfmpeg = async (driver: Driver, path: string): Promise<Film> => {
  const program = findFfmpeg(process.env)
  const desktop = await driver.desktop()
  const words = ffmpegArguments(desktop.display, await desktop.screen(), path)
  const child = Bun.spawn(['sh', '-c', leash, 'film', program, ...words], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = new Response(child.stderr).text()
  let state: FilmState = { error: null, outside: null }
  let isStopping = false
  const ended = child.exited.then(async (status) => {
    // Interrupted, it ends with 255 once the file is whole.
    if (isStopping && isFilm(path)) return
    state = {
      ...state,
      error: `ffmpeg ended with status ${status}: ${(await said).trim().split('\n').at(-1) || 'it said nothing'}`,
    }
  })
  return {
    startedAt: new Date(),
    state: () => state,
    async stop() {
      isStopping = true
      await Promise.resolve(child.stdin.end()).catch(() => undefined)
      await ended
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
