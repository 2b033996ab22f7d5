/** Films made in processes of their own, and what others find in them. */
import { join } from 'node:path'
import type { FilmState } from '@backlot/native'
import type { TestDesktop } from './desktop.ts'

/** A film that is made in a process of its own, which can be killed. */
export class Filming implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
  readonly #states: AsyncIterator<FilmState>

  constructor(on: TestDesktop, path: string, options = {}) {
    const script = join(import.meta.dir, 'film.ts')
    const command = [process.execPath, script, path, JSON.stringify(options)]
    this.#child = Bun.spawn(command, { env: on.env, stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
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
