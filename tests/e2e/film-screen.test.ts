/** Films of a display whose size changes, and of one that a compositor draws. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { compositorOn } from '../support/compositor.ts'
import { privateDesktop } from '../support/desktop.ts'
import { Filming, filmed, probed, psnr, wantedLuma } from '../support/filming.ts'
import { connect } from '../support/mcp-client.ts'
import { sessionIn } from '../support/recorded.ts'
import { until } from '../support/until.ts'
import { asPerson, displayState, type Pixels, photograph } from '../support/witness/index.ts'

const on = privateDesktop({ size: { width: 1280, height: 800 } })

/** Where the windows of these tests are, away from the pointer. */
const part = { x: 0, y: 0, width: 900, height: 600 }

/** Shows text in a window, which stands there when this resolves. */
const showText = async (geometry: string, words: string) => {
  const { children } = await displayState(on())
  const script = `for i in 1 2 3 4 5 6 7 8 9; do seq -s ' ${words} ' $i 60; done; exec cat`
  const terminal = on().start(['xterm', '-geometry', geometry, '-e', 'sh', '-c', script])
  await until('the window', async () => (await displayState(on())).children.length > children.length)
  await standing()
  return terminal
}

/** The display once it stands still. */
const standing = async (): Promise<Pixels> => {
  let before = await photograph(on(), 'root')
  return until('a display that stands still', async () => {
    await Bun.sleep(100)
    const after = await photograph(on(), 'root')
    const stands = before.rgb.equals(after.rgb)
    before = after
    return stands && after
  })
}

/** What is on the display, and the number of a picture of the film that was taken after that. */
const moment = (filming: Filming) =>
  until('a display that stands still while it is filmed', async () => {
    const photo = await standing()
    const { frames } = await filming.until(() => true)
    const state = await filming.until((now) => now.frames > frames + 4)
    const stands = (await photograph(on(), 'root')).rgb.equals(photo.rgb)
    return stands && { photo, number: state.frames - 1, state }
  })

const likeness = async (path: string, { photo, number }: { photo: Pixels; number: number }): Promise<number> =>
  psnr(await filmed(path, number, part), wantedLuma(photo, part))

const resize = async (size: string): Promise<void> => {
  expect(await on().run(['xrandr', '-s', size])).toMatchObject({ status: 0 })
  const [width, height] = size.split('x').map(Number)
  await until(`a display of ${size}`, async () => {
    const photo = await photograph(on(), 'root')
    return photo.width === width && photo.height === height
  })
}

test('a display that becomes smaller and larger is filmed on, as far as the film reaches', async () => {
  const path = on().path('resized.mp4')
  await asPerson.point(on(), 1_000, 750)
  const terminal = await showText('100x30+20+30', 'before')
  await using filming = new Filming(on(), path)
  const first = await moment(filming)
  await resize('1024x768')
  const smaller = await moment(filming)
  await resize('1920x1080')
  const more = await showText('60x20+300+300', 'larger')
  const larger = await moment(filming)
  await resize('1280x800')
  const last = await moment(filming)
  const state = await filming.stop()
  expect(state).toMatchObject({ width: 1280, height: 800, running: false })
  expect(state.error ?? null).toBeNull()
  const seen = { first, smaller, larger, last }
  expect(Object.values(seen).map((each) => [each.state.screen_width, each.state.screen_height])).toEqual([
    [1280, 800],
    [1280, 800],
    [1920, 1080],
    [1920, 1080],
  ])
  for (const [name, each] of Object.entries(seen)) {
    expect([name, (await likeness(path, each)) > 40]).toEqual([name, true])
  }
  // What was outside of the smaller one is black, and what is inside of the larger one is not.
  const edge = { x: 1_100, y: 0, width: 180, height: 800 }
  expect(Math.max(...(await filmed(path, smaller.number, edge)).levels)).toBeLessThan(18)
  const { frames, seconds, codec_name } = await probed(path)
  expect([codec_name, frames]).toEqual(['h264', state.frames])
  expect(seconds).toBeCloseTo(state.seconds, 3)
  for (const each of [terminal, more]) {
    each.kill()
    await each.exited
  }
})

test('a recording says that its film shows a part of a display that became larger', async () => {
  await using client = await connect(on())
  const folder = on().path('recorded')
  const state = () => client.ask<{ last_error: string | null; video_active: boolean }>('get_recording_state')
  await client.ask('start_recording', { output_dir: folder, record_video: true })
  try {
    await resize('1920x1080')
    const said = await until('the error', async () => (await state()).last_error)
    expect(said).toBe(
      'The screen became 1920x1080, and the film shows 1280x800 of it. Call start_recording again to film all of it.',
    )
    expect(await state()).toMatchObject({ video_active: true })
  } finally {
    await resize('1280x800')
  }
  await client.ask('stop_recording')
  expect(sessionIn(folder)).toMatchObject({ last_error: expect.stringContaining('1920x1080') })
  expect(await probed(join(folder, 'recording.mp4'))).toMatchObject({ codec_name: 'h264' })
})

test('what is drawn under a compositor is filmed, also when it comes and goes meanwhile', async () => {
  const path = on().path('composited.mp4')
  await asPerson.point(on(), 1_000, 750)
  const first = await showText('100x30+20+30', 'plain')
  await using filming = new Filming(on(), path)
  const moments = [await moment(filming)]
  const texts = [first]
  {
    await using _ = await compositorOn(on())
    moments.push(await moment(filming))
    texts.push(await showText('60x20+300+300', 'composited'))
    moments.push(await moment(filming))
    // Damage inside of a window that is there already.
    texts.push(await showText('70x20+100+150', 'over'))
    moments.push(await moment(filming))
    texts.pop()?.kill()
    await until('the window to go', async () => (await standing()) && true)
    moments.push(await moment(filming))
  }
  moments.push(await moment(filming))
  texts.push(await showText('60x20+200+100', 'plain again'))
  moments.push(await moment(filming))
  const state = await filming.stop()
  expect(state.error ?? null).toBeNull()
  const found = await Promise.all(moments.map((each) => likeness(path, each)))
  expect(found.map((decibels) => decibels > 40)).toEqual(moments.map(() => true))
  for (const each of texts) {
    each.kill()
    await each.exited
  }
})
