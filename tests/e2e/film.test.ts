import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { FilmState } from '@backlot/native'
import { privateDesktop } from '../support/desktop.ts'

const on = privateDesktop()

/** A film that is made in a process of its own, which can be killed. */
class Filming implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
  readonly #states: AsyncIterator<FilmState>

  constructor(path: string, options = {}) {
    const script = join(import.meta.dir, '../support/film.ts')
    const command = [process.execPath, script, path, JSON.stringify(options)]
    this.#child = Bun.spawn(command, { env: on().env, stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
    this.#states = this.#read()
  }

  async *#read(): AsyncGenerator<FilmState> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of this.#child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines.map((line) => JSON.parse(line) as FilmState)
    }
  }

  /** The first state that fits. */
  async until(fits: (state: FilmState) => boolean): Promise<FilmState> {
    for (;;) {
      const { value, done } = await this.#states.next()
      if (done) throw new Error('the film ended before')
      if (fits(value)) return value
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
const probed = async (path: string) => {
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

test('a film of the desktop lasts as long as it says, and others know what it is', async () => {
  const path = on().path('film.mp4')
  await using filming = new Filming(path)
  await filming.until(({ seconds }) => seconds > 2)
  const state = await filming.stop()
  expect(state).toMatchObject({ running: false, fps: 30, bytes: statSync(path).size })
  expect(state.error ?? null).toBeNull()
  const facts = await probed(path)
  expect(facts).toMatchObject({ codec_name: 'h264', profile: 'Constrained Baseline', r_frame_rate: '30/1' })
  expect(facts.frames).toBe(state.frames)
  expect(facts.seconds).toBeCloseTo(state.seconds, 3)
}, 30_000)

test('a film whose maker was killed plays up to its last second', async () => {
  const path = on().path('film.mp4')
  await using filming = new Filming(path)
  const { frames } = await filming.until((state) => state.frames > 100)
  await filming.kill()
  expect((await probed(path)).frames).toBeGreaterThan(frames - 32)
}, 30_000)

test('what cannot be filmed is refused, and a folder that vanishes is told', async () => {
  const refused = async (path: string, options = {}) => {
    await using filming = new Filming(path, options)
    return await filming.until(() => true)
  }
  expect(await refused(join(on().path('missing'), 'film.mp4'))).toEqual({ code: 'film_not_written' } as never)
  expect(await refused(on().path('film.mp4'), { fps: 0 })).toEqual({ code: 'invalid_argument' } as never)
  const folder = on().path('folder')
  mkdirSync(folder)
  await using filming = new Filming(join(folder, 'film.mp4'))
  await filming.until(({ frames }) => frames > 3)
  rmSync(folder, { recursive: true })
  const { error } = await filming.until(({ running }) => !running)
  expect(error).toMatchObject({ code: 'film_not_written' })
  expect(error?.message).toContain('film.mp4')
}, 30_000)
