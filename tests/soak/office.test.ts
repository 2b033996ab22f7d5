/** LibreOffice, which draws most of its window itself inside one of GTK 3. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Application, startCalc } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, elementsOf, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { startWriter } from '../support/office.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(limitMs(120_000))

const on = privateDesktop({ size: { width: 1600, height: 1100 } })
const times = rounds(1)
let client: McpClient
let app: Application
let target: Target
/** Sits there from the first test behind a person's window to the last. */
let person: Person

beforeAll(async () => {
  client = await connect(on())
  app = await startCalc(on())
  target = { pid: app.pid, window_id: app.windowId }
  await until('the cells of the sheet', async () =>
    (await elementsOf(client, target)).some(({ label }) => label === 'A1'),
  )
}, 120_000)

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
}, 30_000)

test('the tree of a sheet has its cells, its toolbars and each menu once, and stands still', async () => {
  const elements = await elementsOf(client, target)
  for (const label of ['File', 'Edit', 'Sheet', 'A1', 'C4', 'Bold', 'Sheet1']) {
    expect(elements.filter((each) => each.label === label)).toHaveLength(1)
  }
  const cells = elements.filter(({ role }) => role === 'table cell')
  expect(cells.length).toBeGreaterThanOrEqual(100)
  expect(await elementsOf(client, target)).toEqual(elements)
})

/** Writes into a cell by a tree that was read before the pointer came over the sheet. */
const writeByOlderTree = async (cell: string): Promise<void> => {
  const { element_index } = await element(client, target, cell)
  // From so much of it LibreOffice learns where its window is.
  for (const direction of ['down', 'up'])
    await client.ask('scroll', { ...target, x: 700, y: 600, direction, amount: 100, mode: 'wheel' })
  const mark = app.journal.mark()
  await client.ask('click', { ...target, element_index })
  await client.ask('type_text', { ...target, text: 'met' })
  await client.ask('press_key', { ...target, key: 'return' })
  const changed = await app.journal.waitFor(`cell ${cell}`, ({ type }) => type === 'changed', mark)
  expect(String(changed.cells).replaceAll('$', '')).toEndWith(`.${cell}`)
}

test('cells are where their pixels are, behind the window of a person', async () => {
  person = await seatPerson(on(), '1500x1000+10+40')
  await person.undisturbed(async () => {
    await writeByOlderTree('C30')
    for (let round = 0; round < times; round += 1) {
      for (const [cell, usual] of [
        ['C4', 'here'],
        ['B11', '12'],
        ['E2', 'Öl'],
      ] as const) {
        const text = round === 0 ? usual : `${usual}${round}`
        const { element_index } = await element(client, target, cell)
        const mark = app.journal.mark()
        await client.ask('click', { ...target, element_index })
        await client.ask('type_text', { ...target, text })
        await client.ask('press_key', { ...target, key: 'return' })
        const changed = await app.journal.waitFor(`cell ${cell}`, ({ type }) => type === 'changed', mark)
        expect(String(changed.cells).replaceAll('$', '')).toEndWith(`.${cell}`)
        expect((await element(client, target, cell)).value).toBe(text)
      }
    }
  })
})

interface Cell {
  readonly element_index: number
  readonly label: string
  readonly value?: string
  readonly offscreen?: true
}

interface State {
  readonly partial: string
  readonly offscreen: { readonly at_least: boolean }
  readonly elements: Cell[]
}

const look = (query?: string) => client.ask<State>('get_window_state', { ...target, capture_mode: 'ax', query })

const cellOf = async (name: string): Promise<Cell | undefined> =>
  (await look(name)).elements.find(({ label }) => label === name)

/** The target of an action on a cell that is out of view. */
const beyond = async (name: string) => {
  const cell = await cellOf(name)
  expect(cell).toMatchObject({ offscreen: true })
  return { ...target, element_index: cell?.element_index }
}

test('a cell beyond the view is found by its name', async () => {
  const shown = await look()
  expect(shown.partial).toContain('of a table of 1048576 rows and 16384 columns')
  expect(shown.partial).toContain('query the name of one, such as "B500", to get it')
  expect(shown.offscreen.at_least).toBe(true)
  expect(await client.ask('wait_for', { ...target, condition: 'element', label: 'AZ1200' })).toMatchObject({
    met: true,
  })
  expect(await cellOf('AZ1200')).toMatchObject({ offscreen: true })
  expect(await cellOf('ZZZ9')).toBeUndefined()
})

/** What the sheet's own API says a cell holds after an action; no other cell may have changed. */
const written = async (name: string, act: () => Promise<unknown>): Promise<unknown> => {
  const mark = app.journal.mark()
  await act()
  await app.journal.waitFor(`cell ${name}`, ({ type }) => type === 'changed', mark)
  const changes = app.journal.entries(mark).filter(({ type }) => type === 'changed')
  for (const { cells } of changes) expect(String(cells).replaceAll('$', '')).toEndWith(`.${name}`)
  return changes.at(-1)?.value
}

test('cells far beyond the view are clicked and written, behind the window of a person', async () => {
  await person.undisturbed(async () => {
    for (let round = 0; round < times; round += 1) {
      const typed = await written(`B${500 + round}`, async () => {
        const there = await beyond(`B${500 + round}`)
        expect(await client.ask('click', there)).toMatchObject({ scrolled_into_view: 'toolkit' })
        await client.ask('type_text', { ...there, text: `Far ${round}` })
        await client.ask('press_key', { ...target, key: 'return' })
      })
      expect(typed).toEqual([[`Far ${round}`]])
      for (const [cell, text, held, shown] of [
        ['AZ1200', 'Größe', 'Größe', 'Größe'],
        ['C9000', '007 km', '007 km', '007 km'],
        // The sheet would complete it by the cell above.
        ['AZ1201', 'Gr', 'Gr', 'Gr'],
        ['B3', '=6*7', 42, '42'],
        ['AZ1201', '', '', ''],
      ] as const) {
        const value = await written(cell, async () => {
          const set = await client.ask('set_value', { ...(await beyond(cell)), value: text })
          expect(set).toMatchObject({ effect: 'confirmed', route: 'agent_keyboard' })
        })
        expect(value).toEqual([[held]])
        expect((await cellOf(cell))?.value).toBe(shown)
      }
    }
  })
  process.kill(person.window.pid)
})

test('a number is written into a cell beyond the view, which stays there', async () => {
  const others = app.journal.entries().findLast(({ type }) => type === 'contents')?.cells
  const mark = app.journal.mark()
  const set = async (value: string) => client.ask('set_value', { ...(await beyond('C3000')), value })
  expect(await set('-42.5')).toMatchObject({ effect: 'confirmed', route: 'value' })
  const { cells } = await app.journal.waitFor('cell C3000', ({ type }) => type === 'contents', mark)
  expect(cells).toEqual({ ...Object(others), '$Sheet1.$C$3000': [[-42.5]] })
  expect(await set('-42.5')).toMatchObject({ route: 'none', value: '-42.5' })
  expect(await cellOf('C3000')).toMatchObject({ value: '-42.5', offscreen: true })
  expect(app.journal.entries(mark).filter(({ type }) => type === 'scroll')).toEqual([])
})

test('a cell that no scrolling shows is refused, and nothing is written', async () => {
  await client.ask('click', await beyond('B300'))
  await client.ask('invoke_menu', { ...target, path: ['Format', 'Rows', 'Hide'] })
  const mark = app.journal.mark()
  const there = await beyond('B300')
  for (const [tool, args] of [
    ['click', there],
    ['type_text', { ...there, text: 'lost' }],
    ['set_value', { ...there, value: 'lost' }],
  ] as const) {
    const { structured } = await client.call(tool, args)
    expect(structured).toMatchObject({ code: 'window_not_visible' })
  }
  expect(app.journal.entries(mark).filter(({ type }) => type === 'changed')).toEqual([])
})

test('a menu item is invoked by its path, and the dialog that it opens is operated', async () => {
  for (let round = 0; round < times; round += 1) {
    await client.ask('invoke_menu', { ...target, path: ['Sheet', 'Insert Sheet...'] })
    const dialog = await until('the dialog', async () =>
      (await windowsOf(client, app.pid)).find(({ window_id, kind }) => window_id !== app.windowId && kind === 'dialog'),
    )
    const inside = { pid: app.pid, window_id: dialog.window_id }
    const { element_index } = await element(client, inside, 'OK')
    await client.ask('click', { ...inside, element_index })
    await until('the new sheet', async () =>
      (await elementsOf(client, target)).some(({ label }) => label === `Sheet${round + 2}`),
    )
  }
})

test('a document of Writer is typed and read back', async () => {
  const { pid, window_id } = await startWriter(on(), client)
  const writer = { pid, window_id }
  await until('its menus', async () => (await elementsOf(client, writer)).some(({ label }) => label === 'Insert'))
  const text = 'Grüße aus dem Hintergrund. '
  await client.ask('type_text', { ...writer, text })
  await until('the text', async () => {
    const found = await client.ask<{ tree_markdown: string }>('get_window_state', {
      ...writer,
      capture_mode: 'ax',
      query: 'Grüße aus',
    })
    return found.tree_markdown.includes(text.trim())
  })
  process.kill(pid, 'SIGKILL')
}, 180_000)
