/** What commands take, beside their work done without a server. */
import { milliseconds, type Row, sideBySide } from '../driver/measure.ts'
import type { ComputerSetup } from './setup.ts'

const rounds = 60

/** How many are asked for at once. */
const crowd = 1_000

/** Pictures over HTTP beside capture and encoding alone. */
export const pictureRows = async ({ ours, capturer }: ComputerSetup): Promise<Row[]> => {
  const ask = (params: object) => milliseconds(() => ours.ask('/cmd', { command: 'screenshot', params }))
  const times = await sideBySide(rounds, {
    png: () => ask({}),
    pngAlone: () => milliseconds(async () => (await capturer.screen(0, [])).png.byteLength),
    jpeg: () => ask({ format: 'jpeg', quality: 80 }),
    jpegAlone: () => milliseconds(async () => (await capturer.screenJpeg(80)).jpeg.byteLength),
  })
  return [
    {
      what: 'screenshot over HTTP, PNG, 1280x800 with text that does not change',
      unit: 'ms',
      measured: times.png,
      floor: { name: 'capture and encoding alone', spread: times.pngAlone },
      aim: { of: 'ratio', atMost: 3 },
    },
    {
      what: 'the same as JPEG',
      unit: 'ms',
      measured: times.jpeg,
      floor: { name: 'capture and encoding alone', spread: times.jpegAlone },
      aim: { of: 'ratio', atMost: 3 },
    },
  ]
}

/** Small commands beside an empty route. */
export const commandRows = async ({ ours, empty }: ComputerSetup): Promise<Row[]> => {
  const ask = (command: string, params: object = {}) => ours.ask('/cmd', { command, params })
  const bare = () => Bun.spawn(['sh', '-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] }).exited
  const times = await sideBySide(rounds, {
    click: () => milliseconds(() => ask('left_click', { x: 1270, y: 790 })),
    empty: () => milliseconds(() => empty.ask('/')),
    run: () => milliseconds(() => ask('run_command', { command: 'true' })),
    bare: () =>
      milliseconds(async () => {
        await empty.ask('/')
        await bare()
      }),
  })
  const crowds = await sideBySide(10, {
    ours: () => milliseconds(() => Promise.all(Array.from({ length: crowd }, () => ask('get_screen_size')))),
    empty: () => milliseconds(() => Promise.all(Array.from({ length: crowd }, () => empty.ask('/')))),
  })
  return [
    {
      what: 'click',
      unit: 'ms',
      measured: times.click,
      floor: { name: 'empty Elysia route', spread: times.empty },
      aim: { of: 'difference', atMost: 2 },
    },
    {
      what: 'run_command true',
      unit: 'ms',
      measured: times.run,
      floor: { name: 'empty route and a bare spawn', spread: times.bare },
      aim: { of: 'ratio', atMost: 1.5 },
    },
    {
      what: `${crowd} small commands at once`,
      unit: 'ms',
      measured: crowds.ours,
      floor: { name: 'as many empty routes', spread: crowds.empty },
    },
  ]
}
