/** Screenshots against one bare frame and its compression alone, done by a program of the capture crate. */
import type { Capturer, Window } from '@backlot/native'
import { milliseconds, type Row, type Spread, sideBySide } from './measure.ts'

/** A running `floor` example: for each line that it is sent it answers `FRAME_MS PNG_MS`. */
class Floor implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
  readonly #answers: AsyncIterator<Uint8Array>

  constructor(program: string, display: string, window: number) {
    const env = { ...process.env, DISPLAY: display }
    this.#child = Bun.spawn([program, String(window)], { env, stdin: 'pipe', stdout: 'pipe' })
    this.#answers = this.#child.stdout[Symbol.asyncIterator]()
  }

  async measure(): Promise<readonly [frame: number, png: number]> {
    this.#child.stdin.write('\n')
    await this.#child.stdin.flush()
    const { value } = await this.#answers.next()
    const [frame, png] = new TextDecoder().decode(value).trim().split(' ').map(Number)
    if (frame === undefined || png === undefined) throw new Error('the floor program ended')
    return [frame, png]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end()
    await this.#child.exited
  }
}

/** A window's picture, finished in the core, against the frame and the PNG that it cannot do without. */
export const pictureRow = async (
  program: string,
  display: string,
  capturer: Capturer,
  window: Window,
  name: string,
): Promise<Row> => {
  await using floor = new Floor(program, display, window.window_id)
  const { picture, bare } = await sideBySide(20, {
    bare: async () => {
      const [frame, png] = await floor.measure()
      return frame + png
    },
    picture: () => milliseconds(() => capturer.window(window.window_id, 0)),
  })
  const size = `${window.bounds.width}x${window.bounds.height}`
  const spread: Spread = bare
  return {
    what: `picture of ${name}, ${size}`,
    unit: 'ms',
    measured: picture,
    floor: { name: 'bare frame and its PNG', spread },
    aim: { of: 'ratio', atMost: 1.3 },
  }
}
