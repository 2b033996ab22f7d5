import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Application } from '../support/applications.ts'
import { countOf, cursorState, dot as dotOf, overlays as overlaysOn, startScene } from '../support/cursors.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { inBothForms } from '../support/forms.ts'
import { element, middleOf, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { sessionIn, turnIn } from '../support/recorded.ts'
import { until } from '../support/until.ts'
import { colorAt, type Pixels, photograph, pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let app: Application
let target: Target

beforeAll(async () => {
  ;({ app, target, client } = await startScene(on()))
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

const state = (cursor_id: string, through = client) => cursorState(through, { cursor_id })

const screen = (): Promise<Pixels> => photograph(on(), 'root')

const overlays = (): Promise<number[]> => overlaysOn(on())

const dot = (session: string, color: string, args: Facts = {}) =>
  client.ask('set_agent_cursor_motion', dotOf(color, { cursor_id: session, cursor_opacity: 1, ...args }))

/** Number of the button that the journal tells of. */
const button = async () => (await element(client, target, 'Press me', 'push button')).element_index

test(
  'the cursor appears with the first action of its session, in the colour of its name',
  proving(['driver.session.cursor-on-first-action', 'driver.session.colour'], async () => {
    const colors: string[] = []
    for (const session of ['anna', 'bert']) {
      const before = await overlays()
      await client.ask('start_session', { session })
      await client.ask('get_window_state', { ...target, session, capture_mode: 'ax' })
      await client.ask('list_windows', { session })
      expect(await overlays()).toEqual(before)
      const element_index = await button()
      await client.ask('click', { ...target, element_index, session })
      expect(await overlays()).toHaveLength(before.length + 1)
      const { position, visible, config } = await state(session)
      expect([visible, position]).toEqual([true, expect.anything()])
      const at = position ?? { x: 0, y: 0 }
      await until('its colour on the screen', async () => countOf(await screen(), config.color, at) > 30)
      colors.push(config.color)
    }
    // Another daemon, which has never seen these, derives the same colours.
    const socket = on().path('other.sock')
    const daemon = on().start(driverCommand('serve', '--socket', socket))
    try {
      await using other = await until('the daemon', () => connect(on(), '--socket', socket).catch(() => undefined))
      expect([(await state('bert', other)).config.color, (await state('anna', other)).config.color]).toEqual(
        colors.toReversed(),
      )
      expect(new Set(colors).size).toBe(2)
    } finally {
      daemon.kill()
      await daemon.exited
    }
    for (const session of ['anna', 'bert']) await client.ask('end_session', { session })
  }),
)

test(
  'the end of a session takes its cursor, its recording and its configuration, and late calls bring none back',
  proving(['driver.session.end-cleans', 'driver.session.late-command'], async () => {
    const session = 'over'
    const folder = on().path('over')
    const before = await overlays()
    await client.ask('start_session', { session })
    await client.ask('set_config', { session, max_image_dimension: 99 })
    await client.ask('start_recording', { session, output_dir: folder })
    await dot(session, '#ff00ff')
    await client.ask('move_cursor', { x: 700, y: 400, session })
    await until('the cursor', async () => colorAt(await screen(), 700, 400) === '#ff00ff')
    expect(await overlays()).toHaveLength(before.length + 1)
    expect(sessionIn(folder)).toMatchObject({ owner: session, stopped_because: null })

    await client.ask('end_session', { session })
    const isGone = async () => {
      expect(await overlays()).toEqual(before)
      expect(colorAt(await screen(), 700, 400)).not.toBe('#ff00ff')
    }
    await isGone()
    expect(sessionIn(folder)).toMatchObject({ owner: session, stopped_because: 'end_session ended it', turns: 1 })
    const place = await middleOf(client, target, 'Press me')
    for (const [tool, args] of [
      ['click', { ...target, ...place, session }],
      ['move_cursor', { x: 700, y: 400, session }],
      ['move_cursor', { x: 700, y: 400, cursor_id: session }],
      ['set_agent_cursor_enabled', { enabled: true, cursor_id: session }],
    ] as const) {
      expect((await client.call(tool, args)).structured).toMatchObject({ code: 'session_ended', session })
    }
    await isGone()
    await client.ask('start_session', { session })
    expect(await client.ask<Facts>('get_config', { session })).toMatchObject({ max_image_dimension: 0 })
    expect(await client.ask<Facts>('get_recording_state', { session })).toMatchObject({ recording: false })
    expect(await state(session)).toMatchObject({ position: null, visible: false })
    await client.ask('end_session', { session })
  }),
)

test(
  'a session that ends while its cursor glides acts no more and shows none',
  proving(['driver.session.late-command'], async () => {
    const session = 'gliding'
    const before = await overlays()
    const element_index = await button()
    const presses = () => app.journal.entries().filter(({ type }) => type === 'clicked').length
    await client.ask('start_session', { session })
    await dot(session, '#ff00ff', { glide_duration_ms: 5_000 })
    const pressed = presses()
    const moving = client.call('move_cursor', { x: 1_000, y: 600, session })
    await until('the cursor to set out', async () => (await overlays()).length > before.length)
    await client.ask('end_session', { session })
    expect((await moving).structured).toMatchObject({ code: 'session_ended' })
    const late = await client.call('click', { ...target, element_index, session })
    expect(late.structured).toMatchObject({ code: 'session_ended' })
    expect([await overlays(), presses()]).toEqual([before, pressed])
  }),
)

/** The lines of cursor.jsonl. */
const wayIn = (folder: string): Facts[] => {
  const file = join(folder, 'cursor.jsonl')
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}

test('a recording tells the way of the cursor of its session among the clicks, and of no other', async () => {
  const session = 'recorded'
  const folder = on().path('way')
  await client.ask('start_session', { session })
  await client.ask('start_recording', { session, output_dir: folder })
  const element_index = await button()
  const pixel = await middleOf(client, target, 'Check me')
  await client.ask('click', { ...target, element_index, session })
  const pressed = (await state(session)).position
  await client.ask('move_cursor', { x: 800, y: 500, session })
  await client.ask('move_cursor', { x: 5, y: 5, session: 'not recorded' })
  await client.ask('click', { ...target, ...pixel, session })
  const clicked = (await state(session)).position
  await client.ask('set_agent_cursor_enabled', { enabled: false, cursor_id: session })
  await client.ask('move_cursor', { x: 900, y: 500, session })
  await client.ask('set_agent_cursor_enabled', { enabled: true, cursor_id: session })
  await client.ask('end_session', { session })
  const way = wayIn(folder)
  expect(way.filter(({ kind }) => kind !== 'click').map(({ kind, x, y }) => [kind, { x, y }] as unknown)).toEqual([
    ['place', pressed],
    ['pulse', pressed],
    ['glide', { x: 800, y: 500 }],
    ['glide', clicked],
    ['pulse', clicked],
    ['hide', clicked],
    ['place', { x: 900, y: 500 }],
    ['hide', { x: 900, y: 500 }],
  ])
  expect(way.filter(({ kind }) => kind === 'click').map(({ turn }) => turn)).toEqual([1, 3])
  for (const line of way) {
    expect(line).toMatchObject({ session, timestamp: expect.any(String), elapsed_ms: expect.any(Number) })
  }
  const { action } = await turnIn(folder, 2)
  expect(action).toMatchObject({ tool: 'move_cursor', arguments: { x: 800, y: 500 }, ok: true, session })
  await client.ask('end_session', { session: 'not recorded' })
})

test('the cursor goes along with a drag, and the recording tells of it', async () => {
  const session = 'dragging'
  const folder = on().path('dragged')
  await client.ask('start_session', { session })
  await dot(session, '#ff00ff', { glide_duration_ms: 50 })
  const window = (await windowsOf(client, target.pid)).find(({ window_id }) => window_id === target.window_id)
  const [left, top] = [window?.bounds.x ?? 0, window?.bounds.y ?? 0]
  const [from, to] = [
    { x: 40, y: 60 },
    { x: 380, y: 400 },
  ]
  const start = { x: left + from.x, y: top + from.y }
  await client.ask('move_cursor', { ...start, session })
  await client.ask('start_recording', { session, output_dir: folder })
  const way = { from_x: from.x, from_y: from.y, to_x: to.x, to_y: to.y, duration_ms: 1_500 }
  const dragged = client.ask('drag', { ...target, ...way, session })
  const seen: { x: number; y: number }[] = []
  await until('the end of the way', async () => {
    const { position } = await state(session)
    if (position !== null) seen.push({ x: position.x - left, y: position.y - top })
    return position?.x === left + to.x
  })
  await dragged
  const between = seen.filter(({ x }) => x > from.x && x < to.x)
  expect(between.length).toBeGreaterThan(5)
  for (const { x, y } of between) expect(Math.abs(x - from.x - (y - from.y))).toBeLessThanOrEqual(1)
  expect(between.map(({ x }) => x)).toEqual(between.map(({ x }) => x).toSorted((a, b) => a - b))
  const end = { x: left + to.x, y: top + to.y }
  expect((await state(session)).position).toEqual(end)
  await client.ask('end_session', { session })
  const told = wayIn(folder).map(({ kind, x, y }) => [kind, { x, y }] as unknown)
  expect(told).toEqual([
    ['glide', start],
    ['pulse', start],
    ['drag', end],
    ['pulse', end],
    ['hide', end],
  ])
})

test('a recording tells when its cursor hides by itself, and when it is back', async () => {
  const session = 'resting'
  const folder = on().path('rested')
  await client.ask('start_session', { session })
  await dot(session, '#ff00ff', { idle_hide_ms: 100 })
  await client.ask('start_recording', { session, output_dir: folder })
  const hidden = (times: number) =>
    until('the cursor to hide', () => wayIn(folder).filter(({ kind }) => kind === 'hide').length === times)
  await client.ask('move_cursor', { x: 800, y: 500, session })
  await hidden(1)
  expect(await state(session)).toMatchObject({ visible: false, enabled: true, position: { x: 800, y: 500 } })
  await client.ask('move_cursor', { x: 820, y: 520, session })
  await hidden(2)
  // What is hidden already is not hidden once more.
  await client.ask('set_agent_cursor_enabled', { enabled: false, cursor_id: session })
  await client.ask('set_agent_cursor_enabled', { enabled: true, cursor_id: session })
  await client.ask('set_agent_cursor_motion', { cursor_id: session, idle_hide_ms: 0 })
  await client.ask('end_session', { session })
  const way = wayIn(folder)
  const [first, second] = [
    { x: 800, y: 500 },
    { x: 820, y: 520 },
  ]
  expect(way.map(({ kind, x, y }) => [kind, { x, y }] as unknown).slice(0, 7)).toEqual([
    ['glide', first],
    ['hide', first],
    ['show', first],
    ['glide', second],
    ['hide', second],
    ['show', second],
    ['place', second],
  ])
  const times = way.map(({ timestamp }) => Date.parse(String(timestamp)))
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

test('a replay moves the cursor of who replays', async () => {
  const folder = on().path('moved')
  await client.ask('start_recording', { session: 'first', output_dir: folder })
  await client.ask('move_cursor', { x: 640, y: 480, session: 'first' })
  await client.ask('stop_recording', { session: 'first' })
  expect(await client.ask<Facts>('replay_trajectory', { dir: folder, session: 'second' })).toMatchObject({})
  expect((await state('second')).position).toEqual({ x: 640, y: 480 })
  for (const session of ['first', 'second']) await client.ask('end_session', { session })
})

/** A picture of a film as ffmpeg decodes it: the last one, also of a film that goes on. */
const lastPicture = async (film: string): Promise<Pixels | undefined> => {
  const command = ['ffmpeg', '-v', 'error', '-i', film, '-update', '1', '-f', 'image2pipe', '-c:v', 'ppm', '-']
  if (!existsSync(film)) return undefined
  const decoder = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' })
  const pictures = await decoder.stdout.bytes()
  const size = pictures.length === 0 ? 0 : sizeOfPpm(pictures)
  return size === 0 ? undefined : pixelsOf(pictures.subarray(pictures.length - size))
}

/** Bytes of the first of several pictures of one size. */
const sizeOfPpm = (pictures: Uint8Array): number => {
  const [header = '', width, height] =
    /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(Buffer.from(pictures.subarray(0, 40)).toString('latin1')) ?? []
  return header.length + Number(width) * Number(height) * 3
}

test(
  'the film shows the cursor in its colour at its place',
  proving(['driver.limits.video'], async () => {
    const session = 'filmed'
    const folder = on().path('filmed')
    const film = join(folder, 'recording.mp4')
    await client.ask('start_session', { session })
    await client.ask('start_recording', { session, output_dir: folder, record_video: true })
    await dot(session, '#ff00ff', { cursor_size: 24 })
    await client.ask('move_cursor', { x: 900, y: 500, session })
    const distance = (pixels: Pixels | undefined, x: number, y: number): number => {
      if (pixels === undefined) return 255
      const [r = 0, g = 0, b = 0] = pixels.rgb.subarray((y * pixels.width + x) * 3)
      return Math.max(255 - r, g, 255 - b)
    }
    // A film plays while it is being made.
    await until('a picture with the cursor', async () => distance(await lastPicture(film), 900, 500) < 12)
    const { stopped } = await client.ask<{ stopped: Facts[] }>('stop_recording', { session })
    expect(stopped).toMatchObject([{ last_video_path: film }])
    const last = await lastPicture(film)
    for (const [x, y] of [
      [0, 0],
      [-16, 0],
      [0, 16],
    ] as const) {
      expect(distance(last, 900 + x, 500 + y)).toBeLessThan(12)
    }
    expect(distance(last, 960, 500)).toBeGreaterThan(50)
    const entries = 'stream=codec_name,r_frame_rate,avg_frame_rate'
    const probe = Bun.spawn(['ffprobe', '-v', 'error', '-show_entries', entries, '-of', 'json', film], {
      stdout: 'pipe',
    })
    expect((await probe.stdout.json()).streams).toEqual([
      { codec_name: 'h264', r_frame_rate: '30/1', avg_frame_rate: '30/1' },
    ])
    await client.ask('end_session', { session })
  }),
)

test(
  'who names no cursor shows or hides the one called default',
  proving(['driver.set-agent-cursor-enabled.cursor-id'], async () => {
    const hide = (args: Facts = {}) => ({ enabled: false, ...args })
    for (const facts of await inBothForms<Facts>(on(), client, 'set_agent_cursor_enabled', hide())) {
      expect(facts).toMatchObject({ cursor_id: 'default', enabled: false })
    }
    for (const facts of await inBothForms<Facts>(on(), client, 'set_agent_cursor_enabled', hide({ cursor_id: 'c' }))) {
      expect(facts).toMatchObject({ cursor_id: 'c', enabled: false })
    }
    expect(await state('default')).toMatchObject({ enabled: false })
    expect(await client.ask<Facts>('set_agent_cursor_enabled', { enabled: true })).toMatchObject({ enabled: true })
    expect(await state('c')).toMatchObject({ enabled: false })
    await client.ask('end_session', { session: 'c' })
  }),
)
