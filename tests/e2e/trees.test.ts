import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGtk4, startQt, startTabs } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, elementsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { compareTree } from '../support/tree-comparison.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

test('every control that a GTK 4 application says it has is in its tree', async () => {
  const { pid, windowId, journal } = await startGtk4(on())
  const [ready] = journal.entries().filter(({ type }) => type === 'ready')
  const all = (ready?.widgets ?? []) as { name: string; kind: string }[]
  // A picture that the application draws itself is no control: it has nothing that could be operated but its pixels.
  const widgets = all.filter(({ kind }) => kind !== 'DrawingArea')
  expect(widgets.length).toBeGreaterThanOrEqual(14)
  const elements = await until('its elements', async () => {
    const found = await elementsOf(client, { pid, window_id: windowId })
    return found.length > 0 && found
  })
  const labels = elements.map(({ label }) => label)
  expect(widgets.filter(({ name }) => !labels.includes(name))).toEqual([])
})

test('what can be operated in GTK 3 and Qt is in the tree, where it is', async () => {
  const galculator = on().start(['galculator'])
  const qt = await startQt(on(), 6)
  for (const [name, pid] of [
    ['galculator', galculator.pid],
    ['Qt 6', qt.pid],
  ] as const) {
    const { compared, missing, displaced } = await compareTree(on(), client, pid)
    expect({ name, missing, displaced }).toEqual({ name, missing: [], displaced: [] })
    expect(compared).toBeGreaterThanOrEqual(10)
  }
})

test('a combo box says what is chosen in it', async () => {
  const { pid, windowId } = await startQt(on(), 5, { title: 'Backlot combo', geometry: '420x600+500+60' })
  const target = { pid, window_id: windowId }
  const combo = await until('the combo box', async () =>
    (await elementsOf(client, target)).find(({ role }) => role === 'combo box'),
  )
  expect(combo.value).toBe('Apple')
  expect((await elementsOf(client, target)).map(({ label }) => label)).not.toContain('Quince')
})

test.each([5, 6] as const)('a row of tabs in Qt %i is in the tree, and takes the name of a tab', async (major) => {
  const { pid, windowId, journal } = await startTabs(on(), major)
  const { compared, missing, displaced } = await compareTree(on(), client, pid)
  expect({ missing, displaced }).toEqual({ missing: [], displaced: [] })
  // At least the row, its tabs, and the button of the one in front.
  expect(compared).toBeGreaterThanOrEqual(5)
  const target = { pid, window_id: windowId }
  // Qt names the row after the tab in front.
  const { element_index } = await element(client, target, 'Harbour', 'page tab list')
  const mark = journal.mark()
  const { effect } = await client.ask<{ effect: string }>('set_value', { ...target, element_index, value: 'Ferry' })
  expect(effect).toBe('confirmed')
  await journal.waitFor('the tab', ({ type, value }) => type === 'changed' && value === 'Ferry', mark)
  await element(client, target, 'Ferry', 'page tab list')
})
