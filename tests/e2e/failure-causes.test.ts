import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import type { FailureCode } from '@backlot/contract/failure'
import { startGtk3 } from '../support/applications.ts'
import { startBareServer } from '../support/bare-server.ts'
import { privateDesktop, type TestDesktop } from '../support/desktop.ts'
import { element, type ListedWindow, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

const refuses = async (code: FailureCode, tool: string, args: Facts, through = client): Promise<void> => {
  const { isError, structured, text } = await through.call(tool, args)
  expect({ isError, code: structured.code, text }).toMatchObject({ isError: true, code })
}

/** Starts a terminal of that title and gives its window, as a driver in its own process lists it. */
const terminalOn = async (there: TestDesktop, direct: McpClient, title: string, place: string): Promise<Target> => {
  there.start(['xterm', '-T', title, '-geometry', place])
  const { pid, window_id } = await until(`the terminal "${title}"`, async () => {
    const { windows } = await direct.ask<{ windows: readonly ListedWindow[] }>('list_windows')
    return windows.find((window) => window.title === title && window.is_on_screen)
  })
  return { pid, window_id }
}

/** Runs something against an X server with these flags, and beside it nothing. */
const withServer = async (
  flags: readonly string[],
  work: (there: TestDesktop, direct: McpClient) => Promise<void>,
): Promise<void> => {
  await using server = await startBareServer(...flags)
  const there = on().with({ DISPLAY: server.display, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' })
  await using direct = await connect(there, '--direct')
  await work(there, direct)
}

test('an application that dies while it is asked for an action', async () => {
  const app = await startGtk3(on(), 'controls', { title: 'Backlot mortal' })
  const target = { pid: app.pid, window_id: app.windowId }
  const { element_index } = await element(client, target, 'Press me')
  process.kill(app.pid, 'SIGSTOP')
  const call = refuses('accessibility_failed', 'click', { ...target, element_index })
  await client.ask('get_window_state', { ...target, timeout_ms: 100 })
  process.kill(app.pid, 'SIGKILL')
  await call
})

test('a clipboard of more than 64 MiB', async () => {
  const file = on().path('copied')
  writeFileSync(file, Buffer.alloc((64 << 20) + 1, 'x'))
  on().start(['xclip', '-quiet', '-selection', 'clipboard', '-i', file])
  await until('xclip to own the clipboard', async () => {
    const { stdout } = await on().run(['xclip', '-selection', 'clipboard', '-o', '-t', 'TARGETS'])
    return stdout.includes('UTF8_STRING')
  })
  await refuses('clipboard_too_large', 'clipboard_read', {})
})

test('a display whose pixels have sixteen bits', async () => {
  await withServer(['-screen', '0', '640x480x16'], async (there, direct) => {
    const window = await terminalOn(there, direct, 'sixteen', '40x10+0+0')
    await refuses('capture_failed', 'get_window_state', { ...window, capture_mode: 'vision' }, direct)
  })
})

test('a picture of a covered window where the server keeps no pixels of what is covered', async () => {
  await withServer(['-extension', 'Composite'], async (there, direct) => {
    const below = await terminalOn(there, direct, 'below', '40x10+0+0')
    await terminalOn(there, direct, 'above', '60x20+0+0')
    await refuses('window_not_visible', 'get_window_state', { ...below, capture_mode: 'vision' }, direct)
  })
})

test.each(['Composite', 'DAMAGE', 'RENDER'])(
  'without %s there is no overlay, and a cursor goes on unseen',
  async (extension) => {
    await withServer(['-extension', extension], async (there, direct) => {
      const windows = async () => (await there.run(['xwininfo', '-root', '-tree'])).stdout.match(/^ +0x/gm)?.length
      await direct.ask('list_windows')
      const before = await windows()
      const { text, structured } = await direct.call('move_cursor', { x: 50, y: 60, session: 'unseen' })
      expect(text).toContain('not seen: the X server has no overlay')
      expect(structured).toMatchObject({ visible: false, overlay: 'unavailable', position: { x: 50, y: 60 } })
      expect(await windows()).toBe(before)
    })
  },
)
