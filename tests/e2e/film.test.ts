import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startChromium } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { Filming, probed } from '../support/filming.ts'
import { windowsOf } from '../support/look.ts'
import { connect } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()

test('a film of the desktop lasts as long as it says, and others know what it is', async () => {
  const path = on().path('film.mp4')
  await using filming = new Filming(on(), path)
  await filming.until(({ seconds }) => seconds > 2)
  const state = await filming.stop()
  expect(state).toMatchObject({ running: false, fps: 30, bytes: statSync(path).size })
  expect(state.error ?? null).toBeNull()
  const facts = await probed(path)
  expect(facts).toMatchObject({ codec_name: 'h264', profile: 'Constrained Baseline', r_frame_rate: '30/1' })
  expect(facts.frames).toBe(state.frames)
  expect(facts.seconds).toBeCloseTo(state.seconds, 3)
})

test('a film whose maker was killed plays up to its last second', async () => {
  const path = on().path('film.mp4')
  await using filming = new Filming(on(), path)
  const { frames } = await filming.until((state) => state.frames > 100)
  await filming.kill()
  expect((await probed(path)).frames).toBeGreaterThan(frames - 32)
})

test('what cannot be filmed is refused, and a folder that vanishes is told', async () => {
  const refused = async (path: string, options = {}) => {
    await using filming = new Filming(on(), path, options)
    return await filming.until(() => true)
  }
  expect(await refused(join(on().path('missing'), 'film.mp4'))).toEqual({ code: 'film_not_written' } as never)
  expect(await refused(on().path('film.mp4'), { fps: 0 })).toEqual({ code: 'invalid_argument' } as never)
  const folder = on().path('folder')
  mkdirSync(folder)
  await using filming = new Filming(on(), join(folder, 'film.mp4'))
  await filming.until(({ frames }) => frames > 3)
  rmSync(folder, { recursive: true })
  const { error } = await filming.until(({ running }) => !running)
  expect(error).toMatchObject({ code: 'film_not_written' })
  expect(error?.message).toContain('film.mp4')
})

/** Serves a film in ranges, as players ask for it. */
const serveFilm = (path: string) => {
  const film = Bun.file(path)
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ headers }) {
      const [, first = '0', last = ''] = /bytes=(\d+)-(\d*)/.exec(headers.get('range') ?? '') ?? []
      const [from, to] = [Number(first), last === '' ? film.size - 1 : Number(last)]
      return new Response(film.slice(from, to + 1), {
        status: 206,
        headers: {
          'accept-ranges': 'bytes',
          'access-control-allow-origin': '*',
          'content-type': 'video/mp4',
          'content-range': `bytes ${from}-${to}/${film.size}`,
        },
      })
    },
  })
}

/** JavaScript that seeks, and answers the place reached and a colour of the picture, away from the pointer. */
const seekingTo = (seconds: number) => `
  const video = document.querySelector('video')
  await new Promise((resolve, reject) => {
    video.onseeked = resolve
    video.onerror = () => reject(new Error(video.error.message))
    video.currentTime = ${seconds}
  })
  const canvas = Object.assign(document.createElement('canvas'), { width: video.videoWidth, height: video.videoHeight })
  const context = canvas.getContext('2d')
  context.drawImage(video, 0, 0)
  return {
    at: video.currentTime,
    colour: [...context.getImageData(canvas.width / 4, canvas.height / 4, 1, 1).data],
    size: [video.videoWidth, video.videoHeight],
    duration: video.duration,
  }`

test('a browser plays a film, and finds its places', async () => {
  const path = on().path('film.mp4')
  const paint = async (colour: string) =>
    expect(await on().run(['xsetroot', '-solid', colour])).toMatchObject({ status: 0 })
  await paint('#c00000')
  await using filming = new Filming(on(), path)
  await filming.until(({ seconds }) => seconds > 2)
  await paint('#0000c0')
  await filming.until(({ seconds }) => seconds > 4)
  const { seconds, width, height } = await filming.stop()

  using server = serveFilm(path)
  await using client = await connect(on())
  const player = `<video crossorigin=anonymous muted preload=auto src="${server.url}film.mp4"></video>`
  await using browser = await startChromium(on(), {
    content: (html) => `${html}${player}`,
    flags: ['--remote-debugging-port=0'],
  })
  const shown = await until('the window of the browser', async () =>
    (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
  )
  const seek = async (to: number) => {
    const target = { pid: shown.pid, window_id: shown.window_id }
    const { result } = await client.ask<{ result: { at: number; colour: number[]; size: number[]; duration: number } }>(
      'page',
      { ...target, action: 'execute_javascript', javascript: seekingTo(to) },
    )
    return result
  }
  const late = await seek(seconds - 0.5)
  expect(late.size).toEqual([width, height])
  expect(late.duration).toBeCloseTo(seconds, 1)
  expect(late.colour[2]).toBeGreaterThan(160)
  expect(late.colour[0]).toBeLessThan(32)
  const early = await seek(1)
  expect(early.at).toBeCloseTo(1, 1)
  expect(early.colour[0]).toBeGreaterThan(160)
  expect(early.colour[2]).toBeLessThan(32)
})
