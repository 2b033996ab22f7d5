/** Pictures of windows on a display whose compositor comes, goes, and leaves full-screen windows to the server. */
import { beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3 } from '../support/applications.ts'
import { compositorOn } from '../support/compositor.ts'
import { privateDesktop, type TestDesktop } from '../support/desktop.ts'
import { listedWindow, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'
import { displayState, pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let app: Application
let target: Target

beforeAll(async () => {
  app = await startGtk3(on(), 'controls', { geometry: '420x480+100+100' })
  target = { pid: app.pid, window_id: app.windowId }
})

/** Covers the screen with a window of this colour until it is disposed of. */
const cover = async (client: McpClient, desktop: TestDesktop, color: string): Promise<Target & AsyncDisposable> => {
  const title = `cover of ${color}`
  const program = desktop.start(['xterm', '-fullscreen', '-T', title, '-bg', color, '-fg', color, '-e', 'sleep', '600'])
  const { pid, window_id } = await until('the cover', async () => {
    const { windows } = await client.ask<{ windows: (Target & { title: string })[] }>('list_windows')
    return windows.find((window) => window.title === title)
  })
  await until('the cover to be in front', async () => (await displayState(desktop)).active_window === window_id)
  return {
    pid,
    window_id,
    async [Symbol.asyncDispose]() {
      program.kill()
      await program.exited
    },
  }
}

/** The colours of a window's picture, which has all of its pixels. */
const colors = async (client: McpClient, window: Target): Promise<Set<string>> => {
  const { isError, text, structured, image } = await client.call('get_window_state', {
    ...window,
    capture_mode: 'vision',
  })
  expect([isError, text]).toEqual([false, expect.any(String)])
  expect(structured.screenshot_stale).toBe(false)
  const { rgb } = await pixelsOf(image ?? new Uint8Array())
  return new Set(Array.from({ length: rgb.length / 3 }, (_, at) => rgb.toString('hex', at * 3, at * 3 + 3)))
}

/** The application's picture shows it, and nothing of what lies on it. */
const isShown = async (client: McpClient, covering: string): Promise<void> => {
  const seen = await colors(client, target)
  expect(seen.size).toBeGreaterThan(20)
  expect(seen.has(covering)).toBe(false)
}

test('windows are complete for a driver that begins while a compositor leaves them to the server', async () => {
  await using client = await connect(on(), '--direct')
  await using _ = await compositorOn(on(), '--unredir-if-possible')
  await using covering = await cover(client, on(), '#456789')
  await until('the server to draw', async () => !(await displayState(on())).is_drawn_by_compositor)
  await isShown(client, '456789')
  expect([...(await colors(client, covering))]).toContain('456789')
})

test('pictures go on after the compositor has ended that was there first', async () => {
  await using client = await connect(on())
  {
    await using _ = await compositorOn(on())
    await listedWindow(client, app.windowId)
    await using _cover = await cover(client, on(), '#123456')
    await isShown(client, '123456')
  }
  await using covering = await cover(client, on(), '#234567')
  await isShown(client, '234567')
  expect([...(await colors(client, covering))]).toContain('234567')
})

test('a compositor that leaves a full-screen window to the server keeps no picture from being taken', async () => {
  await using client = await connect(on())
  await using _ = await compositorOn(on(), '--unredir-if-possible')
  await isShown(client, '345678')
  await using covering = await cover(client, on(), '#345678')
  await until('the server to draw', async () => !(await displayState(on())).is_drawn_by_compositor)
  await isShown(client, '345678')
  expect([...(await colors(client, covering))]).toContain('345678')
})
