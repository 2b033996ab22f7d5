import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startBanner, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import { element, middleOf, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
let app: Application
let target: Target

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

const indexOf = async (label: string) => (await element(client, target, label)).element_index

const lacks = async (tool: string, args: Record<string, unknown>, argument: string): Promise<void> => {
  const mark = app.journal.mark()
  const { structured, text } = await client.call(tool, args)
  expect(structured.code).toBe('missing_argument')
  expect(text).toContain(argument)
  expect(app.journal.entries(mark)).toEqual([])
}

test(
  'click is called in both forms, by element and by point',
  proving(['driver.click.call'], async () => {
    const mark = app.journal.mark()
    await inBothForms(on(), client, 'click', { ...target, element_index: await indexOf('Press me') })
    await inBothForms(on(), client, 'click', { ...target, ...(await middleOf(client, target, 'Press me')) })
    await until('four clicks', () => app.journal.entries(mark).filter(({ type }) => type === 'clicked').length === 4)
  }),
)

test(
  'what an action needs is required, and nothing is sent without it',
  proving(
    [
      'driver.click.pid-required',
      'driver.click.element-index-needs-window-id',
      'driver.errors.element-index-needs-window-id.click',
      'driver.errors.element-index-needs-window-id.type-text',
    ],
    async () => {
      await lacks('click', { window_id: app.windowId, x: 1, y: 1 }, 'pid')
      await lacks('click', { pid: app.pid, element_index: 1 }, 'window_id')
      await lacks('type_text', { pid: app.pid, element_index: 1, text: 'a' }, 'window_id')
    },
  ),
)

test(
  'pid, text and key are required',
  proving(
    [
      'driver.type-text.pid-required',
      'driver.type-text.text-required',
      'driver.press-key.pid-required',
      'driver.press-key.key-required',
    ],
    async () => {
      await lacks('type_text', { text: 'a' }, 'pid')
      await lacks('type_text', { pid: app.pid }, 'text')
      await lacks('press_key', { key: 'a' }, 'pid')
      await lacks('press_key', { pid: app.pid }, 'key')
    },
  ),
)

test(
  'pick presses an item of a menu',
  proving(['driver.click.action.pick'], async () => {
    const mark = app.journal.mark()
    await client.ask('click', { ...target, element_index: await indexOf('Edit') })
    await until('the menu', async () => (await windowsOf(client, app.pid)).some(({ kind }) => kind === 'popup'))
    await client.ask('click', { ...target, element_index: await indexOf('Paste'), action: 'pick' })
    await app.journal.waitFor('the item', ({ type, value }) => type === 'menu' && value === 'Paste', mark)
  }),
)

test(
  'confirm activates a field',
  proving(['driver.click.action.confirm'], async () => {
    const mark = app.journal.mark()
    await client.ask('click', { ...target, element_index: await indexOf('Name'), action: 'confirm' })
    await app.journal.waitFor('the activation', ({ type, widget }) => type === 'activated' && widget === 'Name', mark)
  }),
)

test(
  'cancel does what the element does to cancel',
  proving(['driver.click.action.cancel'], async () => {
    const banner = await startBanner(on(), 'cancel')
    const there = { pid: banner.pid, window_id: banner.windowId }
    const { element_index } = await element(client, there, 'Banner')
    const refused = await client.call('click', { ...there, element_index, action: 'confirm' })
    expect(refused.structured.code).toBe('action_not_supported')
    const did = await client.ask('click', { ...there, element_index, action: 'cancel' })
    // Nothing that anybody could see came of it.
    expect(did).toMatchObject({ effect: 'unverified', evidence: [{ kind: 'ax_action' }] })
    await banner.journal.waitFor('the cancellation', ({ type }) => type === 'done')
    await client.ask('kill_app', { pid: banner.pid })
  }),
)

test(
  'an element of a window on another space is operated',
  proving(['driver.click.element-other-space'], async () => {
    const isHere = async () =>
      (await client.ask<{ windows: { on_current_space: boolean }[] }>('list_windows', { pid: app.pid })).windows.every(
        (window) => window.on_current_space,
      )
    const element_index = await indexOf('Press me')
    await on().run(['xdotool', 'set_num_desktops', '2'])
    await on().run(['xdotool', 'set_desktop', '1'])
    try {
      await until('another space', async () => !(await isHere()))
      const mark = app.journal.mark()
      await client.ask('click', { ...target, element_index })
      await client.ask('click', { ...target, element_index: await indexOf('Press me') })
      await until('both clicks', () => app.journal.entries(mark).filter(({ type }) => type === 'clicked').length === 2)
      expect(await isHere()).toBe(false)
      const refused = await client.call('click', { ...target, x: 10, y: 10 })
      expect(refused.structured.code).toBe('window_not_visible')
    } finally {
      await on().run(['xdotool', 'set_desktop', '0'])
    }
    await until('the space of the window', isHere)
  }),
)

test(
  'open clicks an element twice where it has no action for it',
  proving(['driver.click.action.open'], async () => {
    const mark = app.journal.mark()
    await client.ask('click', { ...target, element_index: await indexOf('Notes'), action: 'open' })
    await app.journal.waitFor('the double click', ({ type }) => type === '2button-press', mark)
  }),
)

test(
  'text goes to the element that has the focus where none is named',
  proving(['driver.type-text.focused'], async () => {
    for (const label of ['Name', 'Notes']) {
      await client.ask('click', { ...target, ...(await middleOf(client, target, label)) })
      const mark = app.journal.mark()
      await client.ask('type_text', { pid: app.pid, text: `for ${label}` })
      const { widget } = await app.journal.waitFor('the text', ({ type }) => type === 'changed', mark)
      expect(widget).toBe(label)
      await app.journal.waitFor('all of it', ({ value }) => String(value).includes(`for ${label}`), mark)
    }
  }),
)

test(
  'inserted text takes the place of what is selected',
  proving(['driver.type-text.selected-text'], async () => {
    const element_index = await indexOf('Name')
    await client.ask('type_text', { ...target, element_index, text: 'before' })
    await client.ask('press_key', { ...target, element_index, key: 'a', modifiers: ['ctrl'] })
    const mark = app.journal.mark()
    await client.ask('type_text', { ...target, element_index, text: 'after' })
    await app.journal.waitFor('the new text', ({ widget, value }) => widget === 'Name' && value === 'after', mark)
    expect(app.journal.entries(mark).filter(({ type }) => type === 'key-press')).toEqual([])
  }),
)

test(
  'typed characters have a pause between them, and inserted ones none',
  proving(['driver.type-text.delay', 'driver.limits.type-delay'], async () => {
    const pressed = (since: number) => app.journal.entries(since).filter(({ type }) => type === 'key-press')
    /** Milliseconds of the X server's clock from the first of ten keys to the last. */
    const spanOf = async (delay: { delay_ms?: number }): Promise<number> => {
      const mark = app.journal.mark()
      await client.ask('type_text', { ...target, text: 'abcdefghij', ...delay })
      await until('ten keys', () => pressed(mark).length === 10)
      const times = pressed(mark).map(({ server_time_ms }) => Number(server_time_ms))
      return (times.at(-1) ?? 0) - (times[0] ?? 0)
    }
    // A button takes no text.
    await client.ask('click', { ...target, ...(await middleOf(client, target, 'Press me')) })
    // A busy server may take the first key late.
    expect(await spanOf({})).toBeGreaterThan(8 * 30)
    expect(await spanOf({ delay_ms: 90 })).toBeGreaterThan(8 * 90)
    const { stdout } = await on().backlot(['describe', 'type_text'])
    expect(JSON.parse(stdout).inputSchema.properties.delay_ms.default).toBe(30)

    const mark = app.journal.mark()
    const text = 'inserted'.repeat(10)
    await client.ask('type_text', { ...target, element_index: await indexOf('Notes'), text, delay_ms: 1_000 })
    await app.journal.waitFor('the text', ({ value }) => String(value).includes(text), mark)
    expect(pressed(mark)).toEqual([])
  }),
)
