import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fields } from '../support/computer.ts'
import { type FakePhone, startFakePhone } from '../support/fake-device.ts'
import { until } from '../support/until.ts'

/** Pictures of the film that the device's encoder makes, which another encoder made before. */
const pictures = 10

let phone: FakePhone
let folder: string

beforeAll(async () => {
  phone = await startFakePhone()
  folder = mkdtempSync(join(tmpdir(), 'film-'))
  const [size, film] = ['270x480', join(folder, 'screen.h264')]
  const encoder = ['-c:v', 'libx264', '-profile:v', 'baseline', '-slices', '2', '-threads', '1', '-f', 'h264', film]
  ffmpeg(
    '-f',
    'lavfi',
    '-i',
    `testsrc=size=${size}:rate=10:duration=${pictures / 10}`,
    '-pix_fmt',
    'yuv420p',
    ...encoder,
  )
  phone.device.set('screen.h264', readFileSync(film))
})

afterAll(async () => {
  await phone?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const ffmpeg = (...words: string[]): string => {
  const { success, stdout, stderr } = Bun.spawnSync(['ffmpeg', '-v', 'error', ...words])
  if (!success || stderr.byteLength > 0) throw new Error(`ffmpeg: ${stderr}`)
  return stdout.toString()
}

/** What ffmpeg decodes of a file: a sum for each picture. */
const decoded = (file: string): string[] =>
  [...ffmpeg('-i', file, '-fps_mode', 'passthrough', '-f', 'framemd5', '-').matchAll(/, ([0-9a-f]{32})$/gm)].map(
    ([, sum = '']) => sum,
  )

/** One who looks on at the device. */
const lookOn = () => {
  const socket = new WebSocket(`${phone.computer.url.replace(/^http/, 'ws')}/view/film`)
  socket.binaryType = 'arraybuffer'
  const texts: Fields[] = []
  const pieces: Uint8Array[] = []
  let reason: string | undefined
  socket.onmessage = ({ data }) => {
    if (typeof data === 'string') texts.push(JSON.parse(data))
    else pieces.push(new Uint8Array(data))
  }
  socket.onclose = (event) => {
    reason = event.reason
  }
  const ended = () => until('the socket to close', () => reason !== undefined)
  return {
    texts,
    pieces,
    reason: () => reason,
    ended,
    async [Symbol.asyncDispose]() {
      socket.close()
      await ended()
    },
  }
}

test('the live film is what the encoder of the device makes, whole, to its last picture', async () => {
  phone.device.arrived()
  await using one = lookOn()
  // The last one comes although no other follows it; the beginning comes before the first.
  await until('the pictures', () => one.pieces.length > pictures)
  expect(one.texts).toEqual([
    {
      type: 'start',
      mime: expect.stringMatching(/^video\/mp4; codecs="avc1\.42[0-9a-f]{4}"$/),
      width: 270,
      height: 480,
    },
  ])
  const seen = join(folder, 'seen.mp4')
  writeFileSync(seen, Buffer.concat(one.pieces))
  const sums = decoded(join(folder, 'screen.h264'))
  expect(sums).toHaveLength(pictures)
  expect(decoded(seen)).toEqual(sums)

  // Whoever comes later sees the screen although nothing changes there: the encoder begins anew, for all.
  await using other = lookOn()
  await until('the pictures', () => other.pieces.length > pictures && one.pieces.length > 2 * pictures)
  expect(other.texts).toEqual(one.texts)
  writeFileSync(seen, Buffer.concat(one.pieces))
  expect(decoded(seen)).toEqual([...sums, ...sums])
  const calls = phone.device.arrived('screenrecord')
  expect(calls).toEqual(Array(2).fill(['screenrecord', '--output-format=h264', '--bit-rate', '8000000', '-']))
})

test('the film goes on where the encoder ends after its longest time', async () => {
  phone.device.set('film-is-over', '')
  await using one = lookOn()
  await until('pictures of the second encoder', () => one.pieces.length > 2 * pictures)
  phone.device.unset('film-is-over')
  expect(one.texts).toHaveLength(1)
  const seen = join(folder, 'seen.mp4')
  writeFileSync(seen, Buffer.concat(one.pieces.slice(0, 1 + 2 * pictures)))
  const sums = decoded(join(folder, 'screen.h264'))
  expect(decoded(seen)).toEqual([...sums, ...sums])
})

test('nothing records when nobody looks on; what the device refuses ends the film with its words', async () => {
  const recording = async () => (await phone.computer.ask('run_command', { command: 'pgrep -cf "^sleep 180$"' })).stdout
  await until('the end of the encoder', async () => (await recording()) === '0\n')
  phone.device.unset('screen.h264')
  const refused = lookOn()
  await refused.ended()
  expect(refused.reason()).toContain('ERROR: unable to create video/avc codec')
})
