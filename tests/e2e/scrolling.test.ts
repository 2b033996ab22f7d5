import { afterAll, beforeAll, expect, test } from 'bun:test'
import { endApplication, startChromium, startGtk4, startLong } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, elementsOf, windowsOf } from '../support/look.ts'
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

/** More than a window shows by far; `whole-documents` has the windows of thousands. */
const rows = 200

/** What is scrolled in each window, and by which device: keys where it takes the focus in a window that is not active. */
const windows = [
  { kind: 'gtk3-list', role: 'list box', route: 'agent_pointer' },
  { kind: 'gtk3-tree', role: 'table', route: 'agent_keyboard' },
  { kind: 'gtk3-form', role: 'push button', route: 'agent_pointer' },
  { kind: 'qt5-table', role: 'table cell', route: 'agent_keyboard' },
  { kind: 'qt6-table', role: 'table cell', route: 'agent_keyboard' },
] as const

for (const { kind, role, route } of windows) {
  test(`an element of ${kind} is scrolled, and a scroll that moves nothing says so`, async () => {
    const app = await startLong(on(), kind, rows)
    const target = { pid: app.pid, window_id: app.windowId }
    // The uppermost: one at the lower edge would be scrolled into view first.
    const element = await until('its elements', async () => {
      const found = (await elementsOf(client, target).catch(() => [])).filter((each) => each.role === role)
      return found.sort((one, other) => one.frame.y - other.frame.y)[0]
    })
    const scroll = (more: object) =>
      client.call('scroll', { ...target, element_index: element.element_index, by: 'page', amount: 2, ...more })
    const atTop = await scroll({ direction: 'up' })
    expect(atTop.structured).toMatchObject({ route, moved: false })
    expect(atTop.text).toContain('Nothing moved')
    const mark = app.journal.mark()
    const down = await scroll({ direction: 'down' })
    expect(down.structured).toMatchObject({ route, moved: true })
    expect(down.text).not.toContain('Nothing moved')
    await app.journal.waitFor('the scroll', ({ type, value }) => type === 'scrolled' && Number(value) > 0, mark)
    await endApplication(on(), app)
  })
}

test('a button of GTK 4 is scrolled with the wheel, which moves nothing in a window that shows all', async () => {
  const app = await startGtk4(on())
  const target = { pid: app.pid, window_id: app.windowId }
  const { element_index } = await element(client, target, 'Check me')
  const mark = app.journal.mark()
  const scrolled = await client.call('scroll', { ...target, element_index, direction: 'down' })
  expect(scrolled.structured).toMatchObject({ route: 'agent_pointer', moved: false })
  await app.journal.waitFor('the wheel', ({ type }) => type === 'scroll', mark)
  await endApplication(on(), app)
})

test('a button of a page is scrolled with the wheel', async () => {
  const listens = `<script>addEventListener('scroll', () => note({ type: 'scrolled', value: scrollY }))</script>`
  await using browser = await startChromium(on(), {
    // The page's own script, which has the journal, stands before the one that listens.
    content: (html) => html.replace('</body>', `<div style="height: 4000px"></div>${listens}</body>`),
  })
  const window = await until('the window of the browser', async () =>
    (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
  )
  const target = { pid: browser.pid, window_id: window.window_id }
  const button = await until('the page', () => element(client, target, 'Press me').catch(() => undefined))
  const scroll = (direction: string) =>
    client.call('scroll', { ...target, element_index: button.element_index, direction })
  // While a browser starts, parts of its own window come and go, and a bar that opens above the page moves it.
  await client.call('wait_for', { ...target, condition: 'still', still_ms: 1_000, timeout_ms: 30_000 })
  const ups = [await scroll('up'), await scroll('up'), await scroll('up')]
  for (const { structured } of ups) {
    expect(structured).toMatchObject({ route: 'agent_pointer' })
    expect(structured.moved).not.toBe(true)
  }
  const mark = browser.journal.mark()
  const down = await scroll('down')
  expect(down.structured).toMatchObject({ route: 'agent_pointer', moved: true })
  await browser.journal.waitFor('the scroll', ({ type, value }) => type === 'scrolled' && Number(value) > 0, mark)
})

test('of an application that has not handled the wheel yet it is not said that nothing moved', async () => {
  const app = await startLong(on(), 'gtk3-list', rows)
  const target = { pid: app.pid, window_id: app.windowId }
  const mark = app.journal.mark()
  process.kill(app.pid, 'SIGSTOP')
  const scrolled = await client
    .call('scroll', { ...target, x: 100, y: 100, mode: 'wheel', direction: 'down' })
    .finally(() => process.kill(app.pid, 'SIGCONT'))
  expect(scrolled.structured).toMatchObject({ moved: null })
  expect(scrolled.text).not.toContain('Nothing moved')
  await app.journal.waitFor('the scroll', ({ type, value }) => type === 'scrolled' && Number(value) > 0, mark)
  await endApplication(on(), app)
})
