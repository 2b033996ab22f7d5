import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import { element, elementsOf, type ListedWindow, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { asPerson, boundsOf, displayState, pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop({ size: { width: 1111, height: 777 } })
let client: McpClient
let app: Application
let other: Application
let target: Target

beforeAll(async () => {
  app = await startGtk3(on(), 'controls', { geometry: '420x480+120+100' })
  other = await startGtk3(on(), 'person', { geometry: '200x100+700+400' })
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface State {
  readonly tree_markdown?: string
  readonly element_count: number
  readonly screenshot_width?: number
  readonly screenshot_height?: number
  readonly screenshot_file_path?: string
}

const lacks = async (tool: string, args: Record<string, unknown>, argument: string): Promise<void> => {
  const { structured, text } = await client.call(tool, args)
  expect(structured.code).toBe('missing_argument')
  expect(text).toContain(argument)
}

test(
  'windows are listed in both forms, minimised ones too',
  proving(
    ['driver.list-windows.call', 'driver.list-windows.top-level', 'driver.list-windows.on-screen-only'],
    async () => {
      for (const { windows } of await inBothForms<{ windows: ListedWindow[] }>(on(), client, 'list_windows')) {
        expect(windows.map(({ window_id }) => window_id).sort()).toEqual([app.windowId, other.windowId].sort())
      }
      await asPerson.minimize(on(), other.windowId)
      await until('the window to be minimised', async () => (await windowsOf(client, other.pid))[0]?.is_minimized)
      const seen = await client.ask<{ windows: ListedWindow[] }>('list_windows', { on_screen_only: true })
      expect(seen.windows.map(({ window_id }) => window_id)).toEqual([app.windowId])
      await asPerson.activate(on(), other.windowId)
      await until('the window to be back', async () => (await windowsOf(client, other.pid))[0]?.is_minimized === false)
    },
  ),
)

interface FullWindow extends ListedWindow {
  readonly app_name: string
  readonly z_index: number
  readonly is_on_screen: boolean
  readonly on_current_space: boolean
}

test(
  'a window says whose it is and where it stands',
  proving(
    ['driver.window.app-name', 'driver.window.z-index', 'driver.window.is-on-screen', 'driver.window.on-current-space'],
    async () => {
      const list = async () => (await client.ask<{ windows: FullWindow[] }>('list_windows')).windows
      for (const { windowId } of [app, other]) {
        await asPerson.activate(on(), windowId)
        await until('the window in front', async () => (await displayState(on())).stacking.at(-1) === windowId)
        const front = (await list()).toSorted((a, b) => b.z_index - a.z_index)[0]
        expect(front).toMatchObject({ window_id: windowId, is_on_screen: true, on_current_space: true })
        expect(front?.app_name).not.toBe('')
      }
      await asPerson.minimize(on(), other.windowId)
      const minimised = await until('the window to be minimised', async () =>
        (await list()).find(({ window_id, is_minimized }) => window_id === other.windowId && is_minimized),
      )
      expect(minimised.is_on_screen).toBe(false)
      await asPerson.activate(on(), other.windowId)
    },
  ),
)

test(
  'the state of a window is its tree and its picture',
  proving(
    [
      'driver.get-window-state.call',
      'driver.get-window-state.som',
      'driver.get-window-state.vision',
      'driver.get-window-state.ax',
    ],
    async () => {
      const [mcp, shell] = await inBothForms<State>(on(), client, 'get_window_state', { ...target })
      for (const state of [mcp, shell]) {
        expect(state.tree_markdown).toContain('"Press me"')
        expect([state.screenshot_width, state.screenshot_height]).toEqual([420, 480])
      }
      const both = await client.call('get_window_state', { ...target })
      expect(await pixelsOf(both.image ?? Buffer.alloc(0))).toMatchObject({ width: 420, height: 480 })
      const vision = await client.call('get_window_state', { ...target, capture_mode: 'vision' })
      expect(vision.image).not.toBeNull()
      expect(vision.structured).not.toHaveProperty('tree_markdown')
      const ax = await client.call('get_window_state', { ...target, capture_mode: 'ax' })
      expect(ax.image).toBeNull()
      expect(ax.structured.tree_markdown).toBe(mcp.tree_markdown)
    },
  ),
)

test(
  'pid and window_id are required',
  proving(['driver.get-window-state.pid-required', 'driver.get-window-state.window-id-required'], async () => {
    await lacks('get_window_state', { window_id: app.windowId }, 'pid')
    await lacks('get_window_state', { pid: app.pid }, 'window_id')
  }),
)

test(
  'a query keeps lines, their ancestors and their indices',
  proving(['driver.get-window-state.query', 'driver.get-window-state.query-keeps-indices'], async () => {
    const whole = await client.ask<State>('get_window_state', { ...target, capture_mode: 'ax' })
    const some = await client.ask<State>('get_window_state', { ...target, capture_mode: 'ax', query: 'pRESS mE' })
    const lines = (some.tree_markdown ?? '').trim().split('\n')
    expect(lines.at(-1)).toMatch(/\[element_index \d+\] push button "Press me"/)
    expect(lines.some((line) => line.includes(app.title))).toBe(true)
    expect(lines.some((line) => line.includes('"Check me"'))).toBe(false)
    for (const line of lines) expect(whole.tree_markdown?.split('\n')).toContain(line)
  }),
)

test(
  'the picture is written to a file instead',
  proving(
    [
      'driver.get-window-state.out-file',
      'driver.get-window-state.out-file-home',
      'driver.get-window-state.out-file-path',
    ],
    async () => {
      const { structured, image } = await client.call('get_window_state', {
        ...target,
        screenshot_out_file: '~/shot.png',
      })
      const path = join(on().home, 'shot.png')
      expect(image).toBeNull()
      expect(structured.screenshot_file_path).toBe(path)
      expect(await pixelsOf(readFileSync(path))).toMatchObject({ width: 420, height: 480 })
    },
  ),
)

test(
  'an index belongs to the latest snapshot of its window',
  proving(
    [
      'driver.index.scope',
      'driver.index.replaced',
      'driver.index.earlier-invalid',
      'driver.get-window-state.before-actions',
    ],
    async () => {
      await using fresh = await connect(on(), '--direct')
      const press = (window: Target, element_index: number, by = fresh) =>
        by.call('click', { ...window, element_index })
      expect((await press(target, 3)).structured.code).toBe('stale_element')
      const button = await element(fresh, target, 'Press me')
      const elsewhere = { pid: other.pid, window_id: other.windowId }
      expect((await press(elsewhere, button.element_index)).structured.code).toBe('stale_element')
      await elementsOf(fresh, elsewhere)
      expect((await press(target, button.element_index)).isError).toBe(false)
      await fresh.ask('get_window_state', { ...target, capture_mode: 'ax', max_elements: 2 })
      const { structured, text } = await press(target, button.element_index)
      expect(structured.code).toBe('stale_element')
      expect(text).toContain('Call get_window_state')
    },
  ),
)

test(
  'the desktop is described without grants',
  proving(
    [
      'driver.get-accessibility-tree.call',
      'driver.get-accessibility-tree.apps',
      'driver.get-accessibility-tree.windows',
      'driver.get-accessibility-tree.no-grants',
      'driver.auth.grantless-tools',
    ],
    async () => {
      interface Overview {
        readonly apps: readonly { readonly pid: number; readonly running: boolean }[]
        readonly windows: readonly FullWindow[]
      }
      on().start(['xterm'])
      await until('the terminal', async () => (await client.ask<Overview>('list_windows')).windows.length === 3)
      // A new window takes the focus a moment after it is there.
      await until('the terminal to be the active window', async () => {
        const { active_window } = await displayState(on())
        return active_window !== null && ![app.windowId, other.windowId].includes(active_window)
      })
      const running = (await client.ask<Overview>('list_apps')).apps.filter((each) => each.running)
      expect(running).not.toBeEmpty()
      const bounds = await boundsOf(on(), app.windowId)
      const [mcp, shell] = await inBothForms<Overview>(on(), client, 'get_accessibility_tree')
      const bus = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' }
      const blind = await on().backlot(['get_accessibility_tree', '{}', '--direct'], { env: bus })
      for (const { apps, windows } of [mcp, shell, JSON.parse(blind.stdout) as Overview]) {
        expect(windows.find(({ window_id }) => window_id === app.windowId)).toMatchObject({
          pid: app.pid,
          bounds,
          z_index: expect.any(Number),
        })
        expect(apps).toEqual(running)
      }
      expect((await on().backlot(['get_screen_size', '{}', '--direct'], { env: bus })).status).toBe(0)
    },
  ),
)

test(
  'the screen has its size and scale',
  proving(
    [
      'driver.get-screen-size.call',
      'driver.get-screen-size.size',
      'driver.get-screen-size.scale-factor',
      'driver.get-screen-size.no-grants',
    ],
    async () => {
      for (const size of await inBothForms(on(), client, 'get_screen_size')) {
        expect(size).toEqual({ width: 1111, height: 777, scale_factor: 1 })
      }
      const bus = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' }
      expect((await on().backlot(['get_screen_size', '{}', '--direct'], { env: bus })).status).toBe(0)
    },
  ),
)

test(
  'the pointer is where the person put it',
  proving(['driver.get-cursor-position.call', 'driver.get-cursor-position.points'], async () => {
    for (const [x, y] of [
      [17, 500],
      [1110, 776],
      [0, 0],
    ] as const) {
      await asPerson.point(on(), x, y)
      for (const position of await inBothForms(on(), client, 'get_cursor_position')) expect(position).toEqual({ x, y })
    }
  }),
)

test(
  'permissions are reported, and asking changes nothing',
  proving(
    ['driver.check-permissions.call', 'driver.check-permissions.read-only', 'driver.check-permissions.repeatable'],
    async () => {
      const answers = [
        ...(await inBothForms(on(), client, 'check_permissions')),
        ...(await inBothForms(on(), client, 'check_permissions', { prompt: false })),
      ]
      for (const answer of answers) {
        expect({ ...answer, probed: null }).toEqual({ ...answers[0], probed: null })
        expect(answer).toMatchObject({ accessibility: true, screen_recording: true })
      }
    },
  ),
)

test(
  'a window on another space is listed as such, and left out where only windows in view are wanted',
  proving(
    ['driver.window.on-current-space', 'driver.list-windows.on-screen-only', 'driver.list-windows.top-level'],
    async () => {
      const listed = async (args: Record<string, unknown> = {}) =>
        (await client.ask<{ windows: FullWindow[] }>('list_windows', { pid: other.pid, ...args })).windows
      await on().run(['xdotool', 'set_num_desktops', '2'])
      await on().run(['xdotool', 'set_desktop_for_window', String(other.windowId), '1'])
      try {
        await until('the window to be elsewhere', async () => (await listed())[0]?.on_current_space === false)
        expect(await listed({ on_screen_only: true })).toEqual([])
        const { windows } = await client.ask<{ windows: FullWindow[] }>('get_accessibility_tree')
        expect(windows.map(({ window_id }) => window_id)).toContain(app.windowId)
        expect(windows.map(({ window_id }) => window_id)).not.toContain(other.windowId)
      } finally {
        await on().run(['xdotool', 'set_desktop_for_window', String(other.windowId), '0'])
      }
      await until('the window to be back', async () => (await listed({ on_screen_only: true })).length === 1)
      expect(await listed()).toMatchObject([{ on_current_space: true }])
    },
  ),
)
