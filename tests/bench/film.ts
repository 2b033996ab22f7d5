/**
 * `./dev bench film [SCENE…] [--quick]`: the recorder beside `ffmpeg -f x11grab -c:v libx264 -preset ultrafast`, in turn, on a
 * desktop of 1920x1080 at 30 pictures a second: processor time, bytes, and how far the last picture is from the screen.
 */

import { BenchDesktop, onDesktop } from './driver/bench-desktop.ts'
import { exactly, machine, type Row, summary, table } from './driver/measure.ts'
import { ffmpegRecorder, ownRecorder, record, type Take } from './film/record.ts'
import { type Scene, scenes } from './film/scenes.ts'

const flags = process.argv.slice(2)
const named = flags.filter((flag) => !flag.startsWith('--'))
const unknown = named.find((name) => !scenes.some((scene) => scene.name === name))
if (unknown !== undefined) {
  console.error(`there is no scene "${unknown}"; there are: ${scenes.map(({ name }) => name).join(', ')}`)
  process.exit(64)
}

/** What both recorders made of a scene, with our aims. */
const rowsOf = ({ name, timesTheirs, mostPercent }: Scene, own: Take, theirs: Take): Row[] => {
  const beside = (value: number) => ({ name: 'ffmpeg, libx264 ultrafast', spread: exactly(value) })
  return [
    {
      what: `${name}: processor time`,
      unit: '% of a core',
      measured: exactly(own.cpu),
      floor: beside(theirs.cpu),
      ...(timesTheirs === undefined ? {} : { aim: { of: 'ratio', atMost: timesTheirs } as const }),
      ...(mostPercent === undefined ? {} : { aim: { of: 'median', atMost: mostPercent } as const }),
    },
    { what: `${name}: film`, unit: 'KB a second', measured: exactly(own.rate), floor: beside(theirs.rate) },
    {
      what: `${name}: luma of the last picture, root of the mean square error`,
      unit: 'levels',
      measured: exactly(own.error),
      floor: beside(theirs.error),
      ...(timesTheirs === undefined ? {} : { aim: { of: 'ratio', atMost: 1 } as const }),
    },
    {
      what: `${name}: the same as PSNR`,
      unit: 'dB',
      measured: exactly(decibels(own.error)),
      floor: beside(decibels(theirs.error)),
    },
  ]
}

const decibels = (error: number): number => 20 * Math.log10(255 / error)

await onDesktop(import.meta.path, async (on) => {
  using desktop = await BenchDesktop.open(on)
  const seconds = flags.includes('--quick') ? 4 : 15
  const recorders = { own: ownRecorder(await desktop.example('video', 'film')), theirs: ffmpegRecorder }
  const rows: Row[] = []
  for (const scene of scenes) {
    if (named.length > 0 && !named.includes(scene.name)) continue
    const own = await record(on, scene, recorders.own, seconds)
    const theirs = await record(on, scene, recorders.theirs, seconds)
    for (const row of rowsOf(scene, own, theirs)) {
      rows.push(row)
      console.error(summary(row))
    }
  }
  console.log(`${table(rows)}\n\n${machine()}.`)
})
