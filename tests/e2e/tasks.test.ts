/** Real tasks of many calls in a window that is covered, while a person types in the one in front. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { python, startCalc, startChromium } from '../support/applications.ts'
import { privateDesktop, type TestDesktop } from '../support/desktop.ts'
import { type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { fieldOf, type Manner, perform, type Step, typingPerson } from '../support/task.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
beforeAll(async () => {
  client = await connect(on())
}, 60_000)
afterAll(() => client?.[Symbol.asyncDispose]())

/** Works while a person types, and expects that every character of the person's arrived. */
const meanwhile = async (work: (person: Person) => Promise<void>): Promise<void> => {
  const person = await seatPerson(on(), '1240x740+10+10')
  const typing = typingPerson(on(), person)
  try {
    await work(person)
  } finally {
    const typed = await typing.stop()
    const shown = fieldOf(person)
    process.kill(person.window.pid, 'SIGKILL')
    expect(shown).toBe(typed)
  }
}

const rows = [
  ['Item', 'Count', 'Price', 'Note'],
  ['Tea', '12', '3.5', 'Größe M'],
  ['Coffee', '7', '8.25', 'für Ämter'],
  ['Sugar', '100', '0.4', 'white'],
  ['Milk', '24', '1.15', 'café'],
  ['Bread', '9', '2.6', 'RYE'],
] as const

/** Types the rows and saves the sheet; every cell is a text and a key. */
const sheetSteps = (target: Target): Step[] => {
  const key = (name: string, modifiers: string[] = []): Step => ({
    tool: 'press_key',
    arguments: { ...target, key: name, ...(modifiers.length > 0 && { modifiers }) },
  })
  return [
    key('home', ['ctrl']),
    ...rows.flatMap((row) =>
      row.flatMap((cell, at): Step[] => [
        { tool: 'type_text', arguments: { ...target, text: cell } },
        key(at === row.length - 1 ? 'return' : 'tab'),
      ]),
    ),
    { tool: 'type_text', arguments: { ...target, text: '=SUM(B2:B6)' } },
    key('return'),
  ]
}

const savedSheet = async (desktop: TestDesktop, file: string): Promise<string[][]> => {
  const { stdout } = await desktop.run([python, join(import.meta.dir, '../support/fixtures/sheet.py'), file])
  return JSON.parse(stdout) as string[][]
}

for (const manner of ['calls', 'run_steps'] satisfies Manner[]) {
  test(`a sheet is filled and saved in LibreOffice in the background, by ${manner}`, async () => {
    const { pid, windowId } = await startCalc(on())
    const target = { pid, window_id: windowId }
    const file = join(on().home, `${manner}.ods`)
    await meanwhile(async () => {
      const steps = sheetSteps(target)
      expect(steps.length).toBeGreaterThanOrEqual(40)
      await perform(client, steps, manner)
      await client.ask('hotkey', { ...target, keys: ['ctrl', 's'] })
      const dialog = await until('the dialog that saves', async () =>
        (await windowsOf(client, pid)).find(({ window_id, kind }) => window_id !== windowId && kind === 'dialog'),
      )
      const saving = { pid, window_id: dialog.window_id }
      const name = [
        { tool: 'hotkey', arguments: { ...saving, keys: ['ctrl', 'a'] } },
        { tool: 'type_text', arguments: { ...saving, text: file } },
        { tool: 'press_key', arguments: { ...saving, key: 'return' } },
      ]
      await perform(client, name, manner)
      await until('the file', () => existsSync(file))
      await until('the dialog to close', async () =>
        (await windowsOf(client, pid)).every(({ window_id }) => window_id !== dialog.window_id),
      )
    })
    const expected = [...rows.map((row) => [...row]), ['152']]
    expect(await savedSheet(on(), file)).toEqual(expected)
    process.kill(pid, 'SIGKILL')
  }, 300_000)
}

interface Listed {
  readonly label: string
  readonly element_token: string
}

const items = ['Tea', 'Coffee', 'Sugar', 'Milk', 'Bread', 'Öl', 'Café crème', 'ΑΒΓ'].map(
  (name, at) => [name, String(at + 1), `${at}.50`] as const,
)

/** Fills every field of the order, by the tokens of one look at the page. */
const orderSteps = (target: Target, elements: readonly Listed[]): Step[] => {
  const token = (label: string): string => {
    const found = elements.find((each) => each.label === label)
    if (found === undefined) throw new Error(`no "${label}" among ${elements.map((each) => each.label).join(', ')}`)
    return found.element_token
  }
  const type = (label: string, text: string): Step => ({
    tool: 'type_text',
    arguments: { ...target, element_token: token(label), text },
  })
  const press = (label: string): Step => ({ tool: 'click', arguments: { ...target, element_token: token(label) } })
  return [
    type('Customer', 'Ada Lovelace'),
    type('Street', 'St James’s Square 12'),
    type('City', 'LONDON'),
    ...items.flatMap(([name, count, price], at) => [
      type(`Item ${at + 1}`, name),
      type(`Count ${at + 1}`, count),
      type(`Price ${at + 1}`, price),
    ]),
    { tool: 'set_value', arguments: { ...target, element_token: token('Shipping'), value: 'courier' } },
    press('Gift wrap'),
    press('Newsletter'),
    press('Newsletter'),
    press('Newsletter'),
    press('Card'),
    press('Invoice'),
    type('Remarks', 'Please ring twice.'),
    { tool: 'get_window_state', arguments: { ...target, capture_mode: 'ax', query: 'Place order' } },
    { tool: 'list_windows', arguments: { pid: target.pid } },
    { tool: 'get_cursor_position', arguments: {} },
    { tool: 'get_screen_size', arguments: {} },
    press('Place order'),
  ]
}

for (const manner of ['calls', 'run_steps'] satisfies Manner[]) {
  test(`an order is placed on a web page in the background, by ${manner}`, async () => {
    await using browser = await startChromium(on(), { page: 'order.html' })
    const window = await until('the window of the browser', async () =>
      (await windowsOf(client, browser.pid)).find(
        ({ kind, title }) => kind === 'normal' && title.includes(browser.title),
      ),
    )
    const target = { pid: window.pid, window_id: window.window_id }
    const look = async () =>
      (await client.ask<{ elements: Listed[] }>('get_window_state', { ...target, capture_mode: 'ax' })).elements
    await until('the elements of the page', async () => (await look()).some(({ label }) => label === 'Place order'))
    await meanwhile(async () => {
      const steps = orderSteps(target, await look())
      expect(steps.length).toBeGreaterThanOrEqual(40)
      await perform(client, steps, manner)
      await browser.journal.waitFor('the order', ({ type }) => type === 'order')
    })
    expect(browser.journal.entries().filter(({ type }) => type === 'order')).toEqual([
      {
        type: 'order',
        isTrusted: true,
        customer: ['Ada Lovelace', 'St James’s Square 12', 'LONDON'],
        items: items.map((item) => [...item]),
        shipping: 'Courier',
        gift: true,
        news: true,
        pay: 'invoice',
        remarks: 'Please ring twice.',
      },
    ])
  }, 300_000)
}
