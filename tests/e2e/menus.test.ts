import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGtk3, startGtk4, startMenus, startQt } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { until } from '../support/until.ts'
import { displayState } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let person: Person

beforeAll(async () => {
  person = await seatPerson(on())
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

const subjects = [
  ['GTK 3', () => startGtk3(on(), 'controls')],
  ['Qt 5', () => startQt(on(), 5)],
  ['Qt 6', () => startQt(on(), 6)],
] as const

describe('an item of a closed menu is chosen by its path', () => {
  for (const [name, start] of subjects) {
    test(`${name}, in a covered window`, async () => {
      const { pid, windowId: window_id, journal } = await start()
      const target = { pid, window_id }
      // The window that has just come becomes the active one a moment after it has the focus.
      await until('the window to be active', async () => (await displayState(on())).active_window === window_id)
      await person.undisturbed(async () => {
        const mark = journal.mark()
        const did = await client.ask('invoke_menu', { ...target, path: ['file', 'quit LATER'] })
        expect(did).toMatchObject({ path: ['File', 'Quit later'], route: 'accessibility' })
        await journal.waitFor('the item', ({ type, value }) => type === 'menu' && value === 'Quit later', mark)
        expect((await windowsOf(client, pid)).filter(({ kind }) => kind === 'popup')).toEqual([])
      })
      const wrong = await client.call('invoke_menu', { ...target, path: ['File', 'Save'] })
      expect(wrong.structured).toMatchObject({ code: 'menu_item_not_found' })
      expect(wrong.text).toContain('"New", "Open", "Quit later"')
      const short = await client.call('invoke_menu', { ...target, path: ['Edit'] })
      expect(short.structured).toMatchObject({ code: 'menu_item_not_found' })
      expect(short.text).toContain('"Copy", "Paste"')
    })
  }
})

test('nested, checked and attached items are chosen; disabled, equal and missing ones refused', async () => {
  const { pid, windowId: window_id, journal } = await startMenus(on())
  const choose = (...path: string[]) => client.call('invoke_menu', { pid, window_id, path })
  const chosen = async (value: string, ...path: string[]) => {
    const mark = journal.mark()
    const { structured } = await choose(...path)
    expect(structured).toMatchObject({ path })
    await journal.waitFor(value, (entry) => entry.type === 'menu' && entry.value === value, mark)
    return structured
  }
  await person.undisturbed(async () => {
    await chosen('In…', 'View', 'Zoom', 'In…')
    await chosen('Alpha', 'More', 'Alpha')
    const checked = await chosen('Tool bar', 'View', 'Tool bar')
    expect(checked).toMatchObject({ effect: 'confirmed' })
    expect(JSON.stringify(checked.evidence)).toContain('the item is now checked')
    const refused = [
      ['element_disabled', 'View', 'Disabled'],
      ['menu_item_ambiguous', 'Window', 'Untitled'],
      ['menu_item_not_found', 'View', 'Zoom'],
      ['menu_item_not_found', 'Edit'],
    ]
    const mark = journal.mark()
    for (const [code, ...path] of refused) expect((await choose(...path)).structured).toMatchObject({ code })
    expect(journal.entries(mark)).toEqual([])
  })
})

test('a window without a menu, and menus that only work when they are open', async () => {
  const { pid, windowId: window_id } = person.window
  const bare = await client.call('invoke_menu', { pid, window_id, path: ['File', 'New'] })
  expect(bare.structured).toMatchObject({ code: 'menu_not_found' })
  const gtk4 = await startGtk4(on())
  const target = { pid: gtk4.pid, window_id: gtk4.windowId }
  const closed = await until('the application on the accessibility bus', async () => {
    const answer = await client.call('invoke_menu', { ...target, path: ['File', 'New'] })
    return answer.structured.code !== 'not_accessible' && answer
  })
  expect(closed.structured).toMatchObject({ code: 'menu_closed' })
})
