/** Films whose makers are killed at any moment: each plays up to its last second. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { privateDesktop } from '../support/desktop.ts'
import { Filming, probed } from '../support/filming.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(900_000))

const on = privateDesktop()
const films = rounds(50)

test(`${films} films that are cut by kill -9 play up to their last second`, async () => {
  // Something to film: text that scrolls without end.
  on().start(['xterm', '-e', 'sh', '-c', 'while :; do date +%N; done'])
  let shortest = Number.POSITIVE_INFINITY
  for (let round = 0; round < films; round += 1) {
    const path = on().path(`film-${round}.mp4`)
    const cut = 35 + Math.floor(Math.random() * 90)
    await using filming = new Filming(on(), path)
    const { frames } = await filming.until((state) => state.frames > cut)
    await filming.kill()
    const facts = await probed(path)
    expect(facts).toMatchObject({ codec_name: 'h264', r_frame_rate: '30/1' })
    expect(facts.frames).toBeGreaterThan(frames - 32)
    shortest = Math.min(shortest, facts.frames)
    rmSync(path)
  }
  console.log(`${films} films were cut and played; the shortest had ${shortest} pictures`)
})
