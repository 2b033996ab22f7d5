import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { lookForEffects } from '../support/driver.ts'
import { element, type ListedWindow, middleOf, windowsOf } from '../support/look.ts'
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

interface Evidence {
  readonly evidence: readonly { readonly kind: string }[]
}

test('a caret that blinks confirms nothing', async () => {
  const app = await startGtk3(on(), 'controls', { title: 'Blinking', blinking: true })
  const target = { pid: app.pid, window_id: app.windowId }
  await client.ask('bring_to_front', target)
  await client.ask('click', { ...target, ...(await middleOf(client, target, 'Name')) })
  const { element_index } = await element(client, target, 'Press me')
  for (let times = 0; times < 6; times++) {
    const did = await client.ask<{ effect: string }>('click', { ...target, element_index })
    // The button does nothing that anybody could see.
    expect(did.effect).toBe('unverified')
  }
  process.kill(app.pid)
})

test('what is drawn by itself confirms nothing, from the first action on', async () => {
  const ticking = 'while :; do printf "%s\\r" "$(date +%N)"; sleep 0.3; done'
  on().start(['xterm', '-T', 'Ticking', '-geometry', '60x20+200+150', '-e', 'sh', '-c', ticking])
  const window = await until('the terminal', async () =>
    (await client.ask<{ windows: readonly ListedWindow[] }>('list_windows', {})).windows.find(
      ({ title, is_on_screen }) => title === 'Ticking' && is_on_screen,
    ),
  )
  const target = { pid: window.pid, window_id: window.window_id }
  await client.ask('get_window_state', { ...target, capture_mode: 'vision' })
  for (let times = 0; times < 6; times++) {
    // A place where nothing stands.
    const did = await client.ask<{ effect: string }>('click', { ...target, x: 150, y: 150 })
    expect(did.effect).toBe('unverified')
  }
  process.kill(window.pid)
})

test('what is drawn because of a key confirms it, in a window that was still before', async () => {
  on().start(['xterm', '-T', 'Silent', '-geometry', '60x20+300+250', '-e', 'cat'])
  const window = await until('the terminal', async () =>
    (await client.ask<{ windows: readonly ListedWindow[] }>('list_windows', {})).windows.find(
      ({ title, is_on_screen }) => title === 'Silent' && is_on_screen,
    ),
  )
  const target = { pid: window.pid, window_id: window.window_id }
  // However late a busy machine draws the letter, it is the answer to the key.
  await lookForEffects(on(), 10000)
  await client.ask('wait_for', { ...target, condition: 'still', still_ms: 1_500 })
  const did = await client.ask<Evidence & { effect: string }>('press_key', { ...target, key: 'x' })
  await lookForEffects(on(), 400)
  expect(did).toMatchObject({ effect: 'confirmed' })
  expect(did.evidence.map(({ kind }) => kind)).toContain('pixels_changed')
  process.kill(window.pid)
})

test('looking takes as long as the configuration says, and a refusal names what was tried', async () => {
  const app = await startGtk3(on(), 'controls', { title: 'Brief' })
  const target = { pid: app.pid, window_id: app.windowId }
  await lookForEffects(on(), 0)
  const { element_index } = await element(client, target, 'Press me')
  expect(await client.ask('click', { ...target, element_index })).toMatchObject({ effect: 'unverified' })
  await lookForEffects(on(), 400)
  const { frame, element_index: notes } = await element(client, target, 'Notes')
  expect(frame.w).toBeGreaterThan(0)
  await on().run(['xdotool', 'windowminimize', String(app.windowId)])
  await until('the window to be minimised', async () => (await windowsOf(client, app.pid))[0]?.is_minimized)
  const { structured } = await client.call('click', { ...target, element_index: notes, action: 'open' })
  expect(structured).toMatchObject({ tried: expect.arrayContaining(['accessibility action "open"']) })
  process.kill(app.pid)
})
