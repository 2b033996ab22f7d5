/** Films a scene with a recorder, and looks at what became of it. */
import { statSync } from 'node:fs'
import type { TestDesktop } from '../../support/desktop.ts'
import type { Scene } from './scenes.ts'

/** A program that films a display into a file until it gets a line. */
export interface Recorder {
  readonly command: (display: string, path: string) => [string, ...string[]]
  /** What red, green and blue have in luma. */
  readonly luma: readonly [number, number, number]
}

/** What a recorder made. */
export interface Take {
  /** Percent of one core. */
  readonly cpu: number
  /** Kilobytes a second. */
  readonly rate: number
  /** Root of the mean square error of the last picture's luma. */
  readonly error: number
}

const size = { width: 1920, height: 1080 }

export const ownRecorder = (program: string): Recorder => ({
  command: (display, path) => [program, display, path],
  luma: [0.2126, 0.7152, 0.0722],
})

export const ffmpegRecorder: Recorder = {
  command: (display, path) => [
    'ffmpeg',
    '-v',
    'error',
    '-y',
    '-f',
    'x11grab',
    '-framerate',
    '30',
    '-video_size',
    `${size.width}x${size.height}`,
    '-i',
    display,
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    path,
  ],
  // Its conversion is that of BT.601.
  luma: [0.299, 0.587, 0.114],
}

export const record = async (on: TestDesktop, scene: Scene, recorder: Recorder, seconds: number): Promise<Take> => {
  const { display } = on.desktop
  const still = scene.still.map((command) => on.start([...command] as [string, ...string[]]))
  const moving =
    scene.moving && Bun.spawn(['setsid', ...scene.moving], { env: on.env, stdio: ['ignore', 'ignore', 'ignore'] })
  // What starts, and draws itself first, is not the scene.
  await Bun.sleep(2500)
  const path = on.path('film.mp4')
  const child = Bun.spawn(recorder.command(display, path), { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit' })
  await Bun.sleep(seconds * 1000)
  // The session of what moves stands still, so that the last picture can be compared.
  if (moving) process.kill(-moving.pid, 'SIGSTOP')
  await Bun.sleep(700)
  const screen = await run([
    'ffmpeg',
    '-v',
    'error',
    '-f',
    'x11grab',
    '-video_size',
    `${size.width}x${size.height}`,
    '-i',
    display,
    '-frames:v',
    '1',
    '-f',
    'rawvideo',
    '-pix_fmt',
    'bgra',
    '-',
  ])
  child.stdin.write('q\n')
  child.stdin.end()
  await child.exited
  for (const application of still) application.kill('SIGKILL')
  if (moving) process.kill(-moving.pid, 'SIGKILL')
  await Promise.all([...still, ...(moving ? [moving] : [])].map(({ exited }) => exited))
  const cpu = Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1e6
  const lasted = seconds + 0.7
  return {
    cpu: (cpu / lasted) * 100,
    rate: statSync(path).size / 1024 / lasted,
    error: await lastError(path, screen, recorder),
  }
}

const lastError = async (path: string, screen: Uint8Array, { luma }: Recorder): Promise<number> => {
  const pictures = await run([
    'ffmpeg',
    '-v',
    'error',
    '-sseof',
    '-0.2',
    '-i',
    path,
    '-f',
    'rawvideo',
    '-pix_fmt',
    'yuv420p',
    '-',
  ])
  const pixels = size.width * size.height
  const last = pictures.subarray(pictures.length - (pixels * 3) / 2)
  let sum = 0
  for (let at = 0; at < pixels; at++) {
    const [blue = 0, green = 0, red = 0] = screen.subarray(at * 4, at * 4 + 3)
    const wanted = 16 + (219 / 255) * (luma[0] * red + luma[1] * green + luma[2] * blue)
    sum += (wanted - (last[at] ?? 0)) ** 2
  }
  return Math.sqrt(sum / pixels)
}

const run = async (command: string[]): Promise<Uint8Array> => {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  return child.stdout.bytes()
}
