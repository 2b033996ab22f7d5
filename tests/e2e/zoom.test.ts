import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import { middleOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { type Pixels, photograph, pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let app: Application
let other: Application
let target: { readonly pid: number; readonly window_id: number }

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  other = await startGtk3(on(), 'controls', { title: 'Another window', geometry: '420x480+700+200' })
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface Zoomed {
  readonly window_id: number
  readonly pid: number
  readonly width: number
  readonly height: number
  readonly mime_type: string
  readonly region: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
  readonly scale: number
}

const zoom = (args: Record<string, unknown>) => client.ask<Zoomed>('zoom', { ...target, ...args })

const whole = { x1: 0, y1: 0, x2: 420, y2: 480 }

const presses = (since: number) =>
  app.journal.entries(since).filter((entry) => entry.type === 'button-press' && !entry.send_event)

/** The mean difference of two pictures of one size, in steps of 256 per channel. */
const difference = (a: Pixels, b: Pixels): number => {
  let sum = 0
  for (let at = 0; at < a.rgb.length; at++) sum += Math.abs((a.rgb[at] ?? 0) - (b.rgb[at] ?? 0))
  return sum / a.rgb.length
}

test(
  'zoom gives a JPEG of the region and a fifth around it',
  proving(
    ['driver.zoom.call', 'driver.zoom.required', 'driver.zoom.jpeg', 'driver.zoom.padding', 'driver.limits.zoom'],
    async () => {
      const corners = { window_id: app.windowId, x1: 100, y1: 150, x2: 200, y2: 210 }
      for (const facts of await inBothForms<Zoomed>(on(), client, 'zoom', corners)) {
        expect(facts).toMatchObject({
          ...target,
          width: 140,
          height: 84,
          mime_type: 'image/jpeg',
          region: { x: 80, y: 138, width: 140, height: 84 },
          scale: 1,
        })
      }
      for (const missing of Object.keys(corners)) {
        const { isError, structured } = await client.call('zoom', { ...corners, [missing]: undefined })
        expect({ isError, structured }).toMatchObject({ isError: true, structured: { code: 'missing_argument' } })
      }
      const { image, text } = await client.call('zoom', corners)
      expect(text).toContain('JPEG 140x84')
      expect(image?.subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]))
    },
  ),
)

test('a zoom shows what is on the screen', async () => {
  // Without a caret that blinks: the lower half holds none.
  const seen = await until('a window that stands still', async () => {
    const before = await photograph(on(), other.windowId)
    const { image } = await client.call('zoom', { ...whole, window_id: other.windowId })
    const after = await photograph(on(), other.windowId)
    return difference(before, after) === 0 && image !== null ? { photo: after, image } : undefined
  })
  const jpeg = await pixelsOf(seen.image)
  expect([jpeg.width, jpeg.height]).toEqual([420, 480])
  expect(difference(jpeg, seen.photo)).toBeLessThan(3)
})

test(
  'from_zoom clicks what the last zoom of the process showed',
  proving(['driver.zoom.pid', 'driver.click.from-zoom'], async () => {
    const at = await middleOf(client, target, 'Press me')
    const without = { window_id: app.windowId, x1: at.x - 40, y1: at.y - 20, x2: at.x + 40, y2: at.y + 20 }
    await client.ask('zoom', without)
    const refused = await client.call('click', { pid: app.pid, x: 5, y: 5, from_zoom: true })
    expect(refused.text).toBe(`from_zoom=true but no zoom context for pid ${app.pid}. Call zoom first.`)
    expect(refused.structured.code).toBe('zoom_required')

    const { region } = await zoom(without)
    const since = app.journal.mark()
    const [x, y] = [at.x - region.x, at.y - region.y]
    await client.ask('click', { pid: app.pid, x, y, from_zoom: true })
    await app.journal.waitFor('the press', (entry) => entry.type === 'clicked' && entry.widget === 'Press me', since)
    expect(presses(since)).toHaveLength(1)

    for (const wrong of [
      { x: region.width, y, code: 'point_outside_window' },
      { x, y, window_id: other.windowId, code: 'zoom_required' },
      { x, y, window_id: app.windowId, debug_image_out: '/tmp/never.png', code: 'invalid_argument' },
    ]) {
      const { code, ...args } = wrong
      const { structured } = await client.call('click', { pid: app.pid, from_zoom: true, ...args })
      expect(structured.code).toBe(code)
    }
  }),
)

test('from_zoom means the zoom of its own session or connection, and no other', async () => {
  const at = await middleOf(client, target, 'Press me')
  const { region } = await zoom({ x1: at.x - 40, y1: at.y - 20, x2: at.x + 40, y2: at.y + 20 })
  const there = { pid: app.pid, x: at.x - region.x, y: at.y - region.y, from_zoom: true }
  await using stranger = await connect(on())
  const since = app.journal.mark()
  expect((await stranger.call('click', there)).structured).toMatchObject({ code: 'zoom_required', pid: app.pid })
  expect(presses(since)).toEqual([])
  // A session that has zoomed nothing itself goes on where its connection looked.
  await client.ask('click', { ...there, session: 'after a zoom' })
  await app.journal.waitFor('the press', (entry) => entry.type === 'clicked' && entry.widget === 'Press me', since)
  await client.ask('end_session', { session: 'after a zoom' })
})

test('a zoom and its clicks follow the scale of the latest screenshot', async () => {
  const at = await middleOf(client, target, 'Press me')
  await client.ask('set_config', { max_image_dimension: 240 })
  try {
    await client.ask('get_window_state', { ...target, capture_mode: 'vision' })
    const { region, width, height, scale } = await zoom({
      x1: at.x / 2 - 20,
      y1: at.y / 2 - 10,
      x2: at.x / 2 + 20,
      y2: at.y / 2 + 10,
    })
    expect(scale).toBe(2)
    expect([width, height]).toEqual([region.width * 2, region.height * 2])
    const since = app.journal.mark()
    await client.ask('click', { pid: app.pid, x: at.x - region.x * 2, y: at.y - region.y * 2, from_zoom: true })
    await app.journal.waitFor('the press', (entry) => entry.type === 'clicked' && entry.widget === 'Press me', since)
  } finally {
    await client.ask('set_config', { max_image_dimension: 0 })
    await client.ask('get_window_state', { ...target, capture_mode: 'vision' })
  }
})

test(
  'debug_image_out shows where a pixel click goes',
  proving(
    [
      'driver.click.debug-image-out',
      'driver.click.debug-image-out-needs-window-id',
      'driver.click.debug-image-out-not-zoom',
    ],
    async () => {
      const at = await middleOf(client, target, 'Press me')
      const path = on().path('click.png')
      const { text, structured } = await client.call('click', { ...target, ...at, debug_image_out: path })
      expect(structured.debug_image_path).toBe(path)
      expect(text).toContain(path)
      const { width, height, rgb } = await pixelsOf(readFileSync(path))
      expect([width, height]).toEqual([420, 480])
      const colour = (x: number, y: number) => [...rgb.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)]
      for (const [right, down] of [
        [0, 0],
        [10, 0],
        [-10, 0],
        [0, 10],
        [0, -10],
      ] as const) {
        expect(colour(at.x + right, at.y + down)).toEqual([255, 0, 0])
      }
      expect(colour(at.x + 10, at.y + 10)).not.toEqual([255, 0, 0])

      const nowhere = `${on().path('none')}/click.png`
      const since = app.journal.mark()
      for (const [args, code] of [
        [{ pid: app.pid, ...at, debug_image_out: path }, 'missing_argument'],
        [{ ...target, ...at, debug_image_out: path, from_zoom: true }, 'invalid_argument'],
        [{ ...target, element_index: 0, debug_image_out: path }, 'invalid_argument'],
        [{ ...target, ...at, debug_image_out: 'click.png' }, 'invalid_argument'],
        [{ ...target, ...at, debug_image_out: nowhere }, 'screenshot_not_written'],
      ] as const) {
        expect((await client.call('click', args)).structured.code).toBe(code)
      }
      expect(existsSync(nowhere)).toBe(false)
      expect(presses(since)).toEqual([])
    },
  ),
)

test(
  'a zoom is at most 500 px wide and ends where the window ends',
  proving(['driver.zoom.width'], async () => {
    await client.ask('set_config', { max_image_dimension: 0 })
    const wide = await startGtk3(on(), 'controls', { title: 'Wide window', geometry: '1000x600+20+20' })
    const given = { pid: wide.pid, window_id: wide.windowId }
    const { image, structured } = await client.call('zoom', { ...given, x1: -50, y1: 0, x2: 5000, y2: 300 })
    expect(structured).toMatchObject({
      width: 500,
      height: 180,
      scale: 0.5,
      region: { x: 0, y: 0, width: 1000, height: 360 },
    })
    expect(await pixelsOf(image ?? Buffer.alloc(0))).toMatchObject({ width: 500, height: 180 })
    const outside = await client.call('zoom', { ...given, x1: 1000, y1: 0, x2: 1100, y2: 50 })
    expect(outside.structured.code).toBe('point_outside_window')
    const turned = await client.call('zoom', { ...given, x1: 50, y1: 0, x2: 50, y2: 50 })
    expect(turned.structured.code).toBe('invalid_argument')
  }),
)
