/** Those who see what a client does through a computer server: a terminal that keeps its bytes, and other programs. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startComputer, type TestComputer } from './computer.ts'
import { until } from './until.ts'

/** A server with a terminal under the pointer, and a folder for files. */
export interface Witness extends AsyncDisposable {
  readonly computer: TestComputer
  /** Number of the server's port. */
  readonly port: number
  /** A folder with nothing but `orange.png` in it. */
  readonly folder: string
  /** The terminal's window and process. */
  readonly window: number
  readonly pid: number
  /**
   * What the terminal was told, in order, as soon as it ends with `last`: `down 0`, `up 0`, `move` however far, `wheel 64
   * 3 times`, and text.
   */
  acts(last: string): Promise<string[]>
  /** Where the pointer is, by xdotool. */
  pointer(): Promise<string>
  /** The clipboard, by xclip. */
  clipboard(): Promise<string>
  /** Text of a file of the folder. */
  text(file: string): Promise<string>
  has(file: string): Promise<boolean>
}

/** One orange pixel. */
const orange = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP43yAAAAQRAZDHGw1eAAAAAElFTkSuQmCC'

/** Starts one, on a port that some clients know alone, or on any. */
export const startWitness = async (port = 0): Promise<Witness> => {
  const computer = await startComputer(['--desktop', '--port', String(port)])
  const folder = join(computer.home, 'client')
  const file = join(computer.home, 'bytes')
  await mkdir(folder)
  await writeFile(join(folder, 'orange.png'), Buffer.from(orange, 'base64'))
  // The terminal tells of the mouse once it has read that it shall, and answers then what it is.
  const asked = `stty raw -echo; printf '\\033[?1002h\\033[?1006h\\033[c'`
  const answered = `while [ "$(dd bs=1 count=1 2>/dev/null)" != c ]; do :; done`
  const script = `${asked}; ${answered}; touch ${file}; exec cat > ${file}`
  const args = ['-T', 'witness', '-geometry', '100x30+40+60', '-e', 'sh', '-c', script]
  const { pid } = await computer.ask('launch', { app: 'xterm', args })
  await until('the terminal', async () => (await computer.ask('get_active_window_title')).result === 'witness')
  await until('its program', () => Bun.file(file).exists())
  const { window_id } = await computer.ask('get_current_window_id')
  const at = (name: string) => join(folder, name)
  return {
    computer,
    port: Number(new URL(computer.url).port),
    folder,
    window: Number(window_id),
    pid: Number(pid),
    async acts(last) {
      await until(`"${last}"`, async () => (await readFile(file, 'utf8')).endsWith(last))
      return actsIn(await readFile(file, 'utf8'))
    },
    pointer: async () => (await computer.shell('xdotool getmouselocation')).split(' ').slice(0, 2).join(' '),
    clipboard: () => computer.shell('xclip -selection clipboard -o'),
    text: (name) => readFile(at(name), 'utf8'),
    has: async (name) =>
      stat(at(name)).then(
        () => true,
        () => false,
      ),
    [Symbol.asyncDispose]: () => computer[Symbol.asyncDispose](),
  }
}

/** Takes apart what a terminal is told (xterm's SGR mouse mode). */
const actsIn = (bytes: string): string[] => {
  const acts: string[] = []
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it begins what a terminal tells.
  for (const [said, button, end] of bytes.matchAll(/\u001b\[<(\d+);\d+;\d+([Mm])|[^\u001b]+/g)) {
    const number = Number(button)
    if (button === undefined) acts.push(said)
    else if (number >= 64) acts.push(`wheel ${number}`)
    else if (number >= 32) acts.push('move')
    else acts.push(`${end === 'M' ? 'down' : 'up'} ${number}`)
  }
  return counted(acts)
}

const counted = (acts: readonly string[]): string[] => {
  const runs: { act: string; count: number }[] = []
  for (const act of acts) {
    const run = runs.at(-1)
    if (run?.act === act && /^(wheel|move)/.test(act)) run.count += 1
    else runs.push({ act, count: 1 })
  }
  return runs.map(({ act, count }) => (act.startsWith('wheel') ? `${act} ${count} times` : act))
}
