import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connect, type McpClient, type Result } from '../support/mcp-client.ts'

const desktop = privateDesktop()
let client: McpClient
let app: Application

beforeAll(async () => {
  app = await startGtk3(desktop(), 'controls')
  client = await connect(desktop(), '--direct')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

const call = (name: string, args: Facts = {}): Promise<Result> => client.call(name, args)

/** The structured content of a call that succeeds. */
const facts = (name: string, args: Facts = {}): Promise<Facts> => client.ask<Facts>(name, args)

const refusal = async (name: string, args: Facts): Promise<{ code: unknown; message: string }> => {
  const { isError, structured, text } = await call(name, args)
  expect(isError).toBe(true)
  return { code: structured.code, message: text }
}

const target = () => ({ pid: app.pid, window_id: app.windowId })

interface Listed {
  readonly element_index: number
  readonly role: string
  readonly label: string
  readonly frame: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}

const element = async (label: string, role?: string): Promise<Listed> => {
  const { elements } = (await facts('get_window_state', { ...target(), capture_mode: 'ax' })) as { elements: Listed[] }
  const found = elements.find((each) => each.label === label && (role === undefined || each.role === role))
  if (found === undefined) throw new Error(`no "${label}" among ${JSON.stringify(elements)}`)
  return found
}

/** The middle of an element in window pixels. */
const middle = async (label: string): Promise<{ x: number; y: number }> => {
  const { windows } = (await facts('list_windows', { pid: app.pid })) as {
    windows: { window_id: number; x: number; y: number }[]
  }
  const window = windows.find(({ window_id }) => window_id === app.windowId)
  const { frame } = await element(label)
  return { x: frame.x + frame.w / 2 - (window?.x ?? 0), y: frame.y + frame.h / 2 - (window?.y ?? 0) }
}

describe('looking', () => {
  test('finds the window of the application', async () => {
    const result = await call('list_windows', { pid: app.pid })
    expect(result.text).toStartWith('Found 1 window(s).\n')
    expect(result.structured.windows).toMatchObject([
      { ...target(), title: app.title, width: 420, is_on_screen: true, on_current_space: true, kind: 'normal' },
    ])
  })

  test('lists apps, screen, pointer and overview', async () => {
    expect((await call('list_apps')).text).toMatch(/^✅ Found \d+ app\(s\): \d+ running, \d+ installed-not-running\./)
    expect((await call('get_screen_size')).text).toBe('✅ Main display: 1280x800 points @ 1x')
    expect((await call('get_cursor_position')).text).toMatch(/^✅ Cursor at \(\d+, \d+\)$/)
    expect(await facts('get_accessibility_tree')).toMatchObject({ windows: [{ window_id: app.windowId }] })
  })

  test('reads tree and picture of a window', async () => {
    const result = await call('get_window_state', target())
    const state = result.structured
    expect(result.text).toStartWith(
      `window_id=${app.windowId} pid=${app.pid} size=420x480 elements=${state.element_count}\n`,
    )
    expect(result.text).toMatch(/- \[element_index \d+\] push button "Press me"/)
    expect(state).toMatchObject({ ...target(), scale: 1, screenshot_width: 420, partial: null })
    expect(result.image?.subarray(1, 4).toString()).toBe('PNG')
    expect((state.elements as unknown[]).length).toBe(state.element_count as number)
  })

  test('gives the picture, the tree, or what a query leaves of it', async () => {
    expect(await facts('get_window_state', { ...target(), capture_mode: 'vision' })).not.toHaveProperty('tree_markdown')
    expect(await facts('get_window_state', { ...target(), capture_mode: 'ax' })).not.toHaveProperty('screenshot_width')
    const none = await call('get_window_state', { ...target(), capture_mode: 'ax', query: 'nowhere at all' })
    expect(none.structured).toMatchObject({ tree_markdown: '', elements: [] })
    expect(none.text).toEndWith('No line holds "nowhere at all".')
    const { tree_markdown } = await facts('get_window_state', { ...target(), capture_mode: 'ax', query: 'PRESS ME' })
    expect(tree_markdown).toContain('"Press me"')
    expect(tree_markdown).not.toContain('"Check me"')
  })

  test('scales the picture as configured, and reads its coordinates so', async () => {
    await facts('set_config', { max_image_dimension: 240 })
    expect(await facts('get_window_state', target())).toMatchObject({ scale: 0.5, screenshot_height: 240 })
    expect((await refusal('click', { ...target(), x: 300, y: 5 })).message).toContain('whose picture is 210x240')
    await facts('set_config', { max_image_dimension: 0 })
    expect(await facts('get_window_state', target())).toMatchObject({ scale: 1 })
  })

  test('writes the picture to a file', async () => {
    const path = desktop().path('window.png')
    const state = await facts('get_window_state', { ...target(), screenshot_out_file: path })
    expect(state.screenshot_file_path).toBe(path)
    expect(readFileSync(path).subarray(1, 4).toString()).toBe('PNG')
    const missing = `${desktop().path('none')}/window.png`
    expect(await refusal('get_window_state', { ...target(), screenshot_out_file: missing })).toMatchObject({
      code: 'screenshot_not_written',
    })
    expect(existsSync(missing)).toBe(false)
    expect((await refusal('get_window_state', { ...target(), screenshot_out_file: 'window.png' })).code).toBe(
      'invalid_argument',
    )
  })

  test('says what is granted', async () => {
    expect(await facts('check_permissions')).toMatchObject({ accessibility: true, screen_recording: true })
  })
})

describe('a wrong target', () => {
  test('is a window that is not there, or belongs to somebody else', async () => {
    expect(await refusal('get_window_state', { pid: app.pid, window_id: 4_000_000_000 })).toMatchObject({
      code: 'window_not_found',
    })
    const foreign = await refusal('get_window_state', { pid: process.pid, window_id: app.windowId })
    expect(foreign.code).toBe('window_not_of_process')
    expect(foreign.message).toContain(`belongs to pid ${app.pid}`)
    expect(await refusal('press_key', { pid: process.pid, key: 'a' })).toMatchObject({ code: 'process_has_no_window' })
  })

  test.each([
    [{}, 'target_required', 'click needs a target'],
    [{ x: 1 }, 'invalid_argument', 'Provide both x and y together, not just one.'],
    [{ element_index: 0, x: 1, y: 1 }, 'target_ambiguous', 'not both'],
    [{ x: 1, y: 1, action: 'press' }, 'invalid_argument', '"action"'],
    [{ element_index: 0, count: 2 }, 'invalid_argument', '"count"'],
    [{ x: 9999, y: 1 }, 'point_outside_window', 'lies outside'],
    [{ x: -1, y: 1 }, 'point_outside_window', 'lies outside'],
    [{ x: 1, y: 1, modifier: ['hyper'] }, 'unknown_modifier', '"hyper"'],
    [{ element_index: 99_999 }, 'stale_element', 'Element index 99999 not found in cache for pid='],
  ])('of click %p is refused', async (args, code, words) => {
    const mark = app.journal.mark()
    const { code: given, message } = await refusal('click', { ...target(), ...args })
    expect(given).toBe(code)
    expect(message).toContain(words)
    expect(app.journal.entries(mark)).toEqual([])
  })

  test('is an element without its window, or one that is disabled, or an unknown key', async () => {
    const needs = { code: 'missing_argument', message: 'window_id is required when element_index is used.' }
    expect(await refusal('click', { pid: app.pid, element_index: 1 })).toEqual(needs)
    expect(await refusal('type_text', { pid: app.pid, text: 'a', element_index: 1 })).toEqual(needs)
    const { element_index } = await element('Not now')
    expect(await refusal('click', { ...target(), element_index })).toMatchObject({ code: 'element_disabled' })
    expect(await refusal('press_key', { ...target(), key: 'retrun' })).toMatchObject({ code: 'unknown_key' })
  })
})

describe('acting', () => {
  test('on an element is confirmed by its state', async () => {
    const { element_index } = await element('Check me')
    const mark = app.journal.mark()
    const did = await facts('click', { ...target(), element_index })
    await app.journal.waitFor('the check box', ({ type, value }) => type === 'toggled' && value === true, mark)
    expect(did).toMatchObject({ element_index, route: 'accessibility', effect: 'confirmed' })
    expect(did.evidence).toContainEqual({ kind: 'state_changed', detail: expect.stringContaining('checked') })
  })

  test('at a point arrives there and leaves the person alone', async () => {
    const point = await middle('Coffee')
    const mark = app.journal.mark()
    const did = await facts('click', { ...target(), ...point })
    await app.journal.waitFor('the radio button', ({ type, value }) => type === 'toggled' && value === true, mark)
    expect(did).toMatchObject({ route: 'agent_pointer', effect: 'confirmed' })
    expect(did.evidence).toContainEqual(expect.objectContaining({ kind: 'person_undisturbed' }))
  })

  test('with text is read back', async () => {
    const { element_index } = await element('Name')
    const text = 'Grüße, 世界 😀'
    const mark = app.journal.mark()
    const did = await facts('type_text', { ...target(), element_index, text })
    await app.journal.waitFor('the entry', ({ type, value }) => type === 'changed' && value === text, mark)
    expect(did).toMatchObject({ effect: 'confirmed', evidence: [{ kind: 'value_read_back' }] })
  })

  test('with a key reaches the window', async () => {
    const point = await middle('Name')
    await facts('click', { ...target(), ...point })
    const mark = app.journal.mark()
    const did = await facts('press_key', { ...target(), key: 'return' })
    await app.journal.waitFor('the key', ({ type, key }) => type === 'key-press' && key === 'Return', mark)
    expect(did).toMatchObject({ key: 'return', route: 'agent_keyboard' })
  })

  test('launches an application behind what the person works in', async () => {
    const did = await facts('launch_app', { name: 'xterm', additional_arguments: ['-T', 'Launched'] })
    expect(did).toMatchObject({
      name: expect.any(String),
      windows: [{ pid: did.pid, title: 'Launched' }],
      effect: 'confirmed',
      evidence: [{ kind: 'window_opened' }],
    })
    await facts('kill_app', { pid: did.pid })
    expect(await refusal('launch_app', {})).toMatchObject({ code: 'missing_argument' })
    expect(await refusal('launch_app', { name: 'no such application' })).toMatchObject({ code: 'app_not_found' })
    expect(await refusal('launch_app', { name: 'xterm', urls: ['relative.txt'] })).toMatchObject({
      code: 'invalid_argument',
    })
  })

  test('ends with killing the application', async () => {
    const other = await startGtk3(desktop(), 'person', { title: 'Short life' })
    expect(await facts('kill_app', { pid: other.pid })).toEqual({
      pid: other.pid,
      effect: 'confirmed',
      evidence: [{ kind: 'process_gone', detail: `process ${other.pid} is gone` }],
    })
    expect(await refusal('get_window_state', { pid: other.pid, window_id: other.windowId })).toMatchObject({
      code: 'window_not_found',
    })
  })
})

describe('a broken part', () => {
  const directly = async (tool: string, env: Record<string, string>, args: Facts = {}): Promise<Facts> => {
    const { status, stdout } = await desktop().backlot([tool, JSON.stringify(args), '--direct'], { env })
    return { status, ...JSON.parse(stdout) }
  }

  test('is the native core: it is named, and tools that need none still work', async () => {
    const env = { BACKLOT_NATIVE_PATH: '/nowhere/core.node' }
    expect(await directly('list_windows', env)).toMatchObject({
      status: 1,
      code: 'unsupported_platform',
      path: '/nowhere/core.node',
    })
    expect(await directly('get_config', env)).toMatchObject({ status: 0, capture_mode: 'som' })
  })

  test('is the display', async () => {
    expect(await directly('list_windows', { DISPLAY: ':4711' })).toMatchObject({
      status: 1,
      code: 'display_unavailable',
    })
    expect(await directly('check_permissions', { DISPLAY: ':4711' })).toMatchObject({
      status: 0,
      screen_recording: false,
    })
  })

  test('is the configuration file: it is named and left as it is', async () => {
    const home = desktop().path('home')
    mkdirSync(`${home}/config`, { recursive: true })
    const file = `${home}/config/driver.json`
    writeFileSync(file, '{')
    for (const tool of ['get_config', 'set_config']) {
      expect(await directly(tool, { BACKLOT_HOME: home })).toMatchObject({
        status: 1,
        code: 'config_unreadable',
        path: file,
      })
    }
    expect(readFileSync(file, 'utf8')).toBe('{')
    expect(await directly('set_config', { BACKLOT_HOME: '/proc/nowhere' }, { element_tags: 'short' })).toMatchObject({
      status: 1,
      code: 'config_not_written',
    })
  })

  test('of the environment tags the elements as it says', async () => {
    const env = { BACKLOT_ELEMENT_TAGS: 'short' }
    const { tree_markdown } = await directly('get_window_state', env, { ...target(), capture_mode: 'ax' })
    expect(tree_markdown).toMatch(/- \[\d+\] push button "Press me"/)
  })
})
