/** Films made in processes of their own, and what others find in them. */
import { join } from 'node:path'
import type { FilmState } from '@backlot/native'
import type { TestDesktop } from './desktop.ts'
import type { Pixels } from './witness/index.ts'

/** A film that is made in a process of its own, which can be killed. */
export class Filming implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
  #state: FilmState | undefined
  #next = Promise.withResolvers<void>()
  #isOver = false

  constructor(on: TestDesktop, path: string, options = {}) {
    const script = join(import.meta.dir, 'film.ts')
    const command = [process.execPath, script, path, JSON.stringify(options)]
    this.#child = Bun.spawn(command, { env: on.env, stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
    void this.#read()
  }

  async #read(): Promise<void> {
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream())
    let rest = ''
    for await (const text of lines) {
      const whole = (rest + text).split('\n')
      rest = whole.pop() ?? ''
      for (const line of whole) this.#tell(JSON.parse(line) as FilmState)
    }
    this.#isOver = true
    this.#tell(this.#state)
  }

  #tell(state: FilmState | undefined): void {
    this.#state = state
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }

  /** The state of now or the first later one that fits. */
  async until(fits: (state: FilmState) => boolean): Promise<FilmState> {
    for (;;) {
      if (this.#state !== undefined && fits(this.#state)) return this.#state
      if (this.#isOver) throw new Error('the film ended before')
      await this.#next.promise
    }
  }

  async stop(): Promise<FilmState> {
    this.#child.stdin.end()
    return this.until(({ running }) => !running)
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

/** What ffprobe says about a film. */
export const probed = async (path: string) => {
  const entries = 'stream=codec_name,profile,r_frame_rate,nb_read_frames:format=duration'
  const command = ['ffprobe', '-v', 'error', '-count_frames', '-show_entries', entries, '-of', 'json', path]
  const probe = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  const facts = (await new Response(probe.stdout).json()) as {
    streams: { codec_name: string; profile: string; r_frame_rate: string; nb_read_frames: string }[]
    format: { duration: string }
  }
  const [stream] = facts.streams
  return { ...stream, frames: Number(stream?.nb_read_frames), seconds: Number(facts.format.duration) }
}

/** Luma of a part of a picture, row by row. */
export interface Luma {
  readonly width: number
  readonly height: number
  readonly levels: Uint8Array
}

interface Part {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Luma of a part of a film's picture of that number, from 0, as ffmpeg decodes it; the film may still be made. */
export const filmed = async (path: string, number: number, { x, y, width, height }: Part): Promise<Luma> => {
  const picture = `select=eq(n\\,${number}),crop=${width}:${height}:${x}:${y}:exact=1,extractplanes=y`
  const output = ['-frames:v', '1', '-f', 'rawvideo', '-pix_fmt', 'gray', '-']
  const decoder = Bun.spawn(['ffmpeg', '-v', 'error', '-i', path, '-vf', picture, ...output], {
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const levels = await decoder.stdout.bytes()
  if (levels.length !== width * height) throw new Error(`picture ${number} of "${path}" is not to be had`)
  return { width, height, levels }
}

/** What a film that is right has there. */
export const wantedLuma = ({ rgb, width: stride }: Pixels, { x, y, width, height }: Part): Luma => {
  const levels = new Uint8Array(width * height)
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const at = ((y + row) * stride + x + column) * 3
      const light = 0.2126 * (rgb[at] ?? 0) + 0.7152 * (rgb[at + 1] ?? 0) + 0.0722 * (rgb[at + 2] ?? 0)
      levels[row * width + column] = Math.round(16 + (219 / 255) * light)
    }
  }
  return { width, height, levels }
}

/** How like each other two pictures are, in decibels; infinite where they are the same. */
export const psnr = ({ levels: one }: Luma, { levels: other }: Luma): number => {
  const error = one.reduce((sum, level, at) => sum + (level - (other[at] ?? 0)) ** 2, 0) / one.length
  return 10 * Math.log10(255 ** 2 / error)
}
