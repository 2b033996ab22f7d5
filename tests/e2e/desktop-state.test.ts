import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'
import { asPerson, photograph, pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let back: Application
let front: Application

beforeAll(async () => {
  back = await startGtk3(on(), 'controls', { geometry: '420x480+100+100' })
  front = await startGtk3(on(), 'controls', { title: 'In front', geometry: '300x200+700+300' })
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface State {
  readonly width: number
  readonly height: number
  readonly windows: readonly { window_id: number; x: number; y: number; width: number; height: number }[]
  readonly scale?: number
  readonly screenshot_width?: number
}

const state = (args: Record<string, unknown> = {}) => client.ask<State>('get_desktop_state', args)

test('the display is shown pixel by pixel, with its windows at their places', async () => {
  const seen = await until('a display that stands still', async () => {
    const before = await photograph(on(), back.windowId)
    const { image, structured } = await client.call('get_desktop_state')
    const after = await photograph(on(), back.windowId)
    return before.rgb.equals(after.rgb) && image !== null ? { photo: after, image, structured } : undefined
  })
  expect(seen.structured).toMatchObject({ width: 1280, height: 800, screenshot_width: 1280, scale: 1 })
  const { windows } = seen.structured as unknown as State
  expect(windows.map(({ window_id }) => window_id)).toEqual([back.windowId, front.windowId])
  const [window] = windows
  const picture = await pixelsOf(seen.image)
  expect([picture.width, picture.height]).toEqual([1280, 800])
  const width = window?.width ?? 0
  for (let row = 0; row < (window?.height ?? 0); row++) {
    const start = (((window?.y ?? 0) + row) * 1280 + (window?.x ?? 0)) * 3
    const of = seen.photo.rgb.subarray(row * width * 3, (row + 1) * width * 3)
    expect(picture.rgb.subarray(start, start + width * 3).equals(of)).toBe(true)
  }
})

test('it leaves out what is asked to be left out', async () => {
  await asPerson.minimize(on(), front.windowId)
  await until('the window to be minimised', async () => (await state({ on_screen_only: true })).windows.length === 1)
  expect((await state()).windows).toHaveLength(2)
  const { image, structured } = await client.call('get_desktop_state', { include_screenshot: false })
  expect(image).toBeNull()
  expect(structured).not.toHaveProperty('screenshot_width')
  await asPerson.activate(on(), front.windowId)
})

test('the picture goes to a file, and is smaller where the configuration says so', async () => {
  await client.ask('set_config', { max_image_dimension: 640 })
  try {
    const path = on().path('display.png')
    const { image, structured } = await client.call('get_desktop_state', { screenshot_out_file: path })
    expect(image).toBeNull()
    expect(structured).toMatchObject({ width: 1280, screenshot_width: 640, scale: 0.5, screenshot_file_path: path })
    expect(await pixelsOf(readFileSync(path))).toMatchObject({ width: 640, height: 400 })
  } finally {
    await client.ask('set_config', { max_image_dimension: 0 })
  }
})
