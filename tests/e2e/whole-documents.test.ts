import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Application, type Browser, endApplication, startChromium, startLong } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import type { Entry } from '../support/journal.ts'
import { type ListedElement, type Target, windowsOf } from '../support/look.ts'
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

interface State extends Facts {
  readonly elements: readonly (ListedElement & { readonly offscreen?: true })[]
  readonly offscreen: { elements: number; above: number; below: number; texts: number; listed: boolean }
  readonly element_count: number
  readonly partial: string | null
}

const look = (target: Target, more: Facts = {}) =>
  client.ask<State>('get_window_state', { ...target, capture_mode: 'ax', ...more })

const targetOf = ({ pid, windowId }: Application): Target => ({ pid, window_id: windowId })

/** The element of exactly that label, by a query. */
const found = async (target: Target, label: string) => {
  const { elements } = await look(target, { query: label })
  const element = elements.find((each) => each.label === label)
  if (element === undefined) throw new Error(`no element "${label}" in ${JSON.stringify(elements)}`)
  return element
}

/** Each kind of long window: how many elements it holds, one of them far away, and what the journal says of a press there. */
const windows = [
  {
    kind: 'gtk3-list',
    rows: 2_000,
    all: 2_001,
    far: 'Row 1900',
    isPressed: ({ type, row }: Entry) => type === 'selected' && row === 1900,
  },
  {
    kind: 'gtk3-tree',
    rows: 500,
    all: 501,
    far: 'Row 450',
    isPressed: ({ type, row }: Entry) => type === 'selected' && row === 450,
  },
  {
    kind: 'gtk3-form',
    rows: 40,
    all: 80,
    far: 'Send 38',
    isPressed: ({ type, button }: Entry) => type === 'pressed' && button === 38,
  },
  {
    kind: 'qt5-table',
    rows: 150,
    all: 450,
    far: 'Cell 140.1',
    isPressed: ({ type, row }: Entry) => type === 'pressed' && row === 140,
  },
  {
    kind: 'qt6-table',
    rows: 150,
    all: 450,
    far: 'Cell 140.1',
    isPressed: ({ type, row }: Entry) => type === 'pressed' && row === 140,
  },
] as const

for (const { kind, rows, all, far, isPressed } of windows) {
  test(`what ${kind} does not show is counted, found and pressed`, async () => {
    const app = await startLong(on(), kind, rows)
    const target = targetOf(app)
    const shown = await look(target)
    expect(shown.elements.map(({ label }) => label)).not.toContain(far)
    expect(shown.offscreen).toMatchObject({ above: 0, listed: false })
    expect(shown.element_count + shown.offscreen.elements).toBe(all)
    const { text } = await client.call('get_window_state', { ...target, capture_mode: 'ax' })
    expect(text).toContain(`${shown.offscreen.below} more below`)
    expect(text).toContain('include_offscreen: true lists them')
    const whole = await look(target, { include_offscreen: true })
    expect(whole.elements).toHaveLength(all)
    expect(whole.offscreen).toMatchObject({ elements: shown.offscreen.elements, listed: true })
    // What is in view has the same index, whatever else is listed.
    // A row that has just been made is named a moment later.
    for (const { element_index, label } of shown.elements)
      if (label !== '') expect(whole.elements.find((each) => each.element_index === element_index)?.label).toBe(label)
    const element = await found(target, far)
    expect(element.offscreen).toBe(true)
    const mark = app.journal.mark()
    const args = { ...target, element_index: element.element_index, modifier: ['ctrl'] }
    const clicked = await client.call('click', args)
    expect(clicked.structured).toMatchObject({ route: 'agent_pointer', scrolled_into_view: 'wheel' })
    expect(clicked.text).toContain('out of view and was scrolled to first')
    await app.journal.waitFor('the press', isPressed, mark)
    // Rows that came into view are named a moment later.
    const after = await until('the row to be in view', async () => {
      const state = await look(target)
      return state.elements.some(({ label }) => label === far) && state
    })
    expect(after.offscreen.above).toBeGreaterThan(0)
    await endApplication(on(), app)
  })
}

test('what another page of a stack holds is not said to be out of view', async () => {
  const app = await startLong(on(), 'gtk3-form')
  const whole = await look(targetOf(app), { include_offscreen: true })
  expect(whole.elements.map(({ label }) => label)).not.toContain('On another page')
  await endApplication(on(), app)
})

describe('a long page in Chromium', () => {
  let browser: Browser
  let target: Target
  const pressed = Promise.withResolvers<void>()
  const frame = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      if (new URL(url).pathname === '/pressed') pressed.resolve()
      const page = `<p>Words of the frame</p><button onclick="fetch('/pressed')">Framed</button>`
      return new Response(page, { headers: { 'content-type': 'text/html' } })
    },
  })

  beforeAll(async () => {
    const paragraphs = Array.from({ length: 120 }, (_, n) => `<p>Paragraph ${n} of the article.</p>`).join('')
    const buttons = Array.from({ length: 500 }, (_, n) => `<button id="buy-${n + 1}">Buy ${n + 1}</button><br>`).join(
      '',
    )
    // Another name of this machine is another site.
    const inner = `<iframe src="http://localhost:${frame.port}/" width="300" height="100"></iframe>`
    const extra = `${buttons}<h2>Article</h2>${paragraphs}<label>Far <input id="far"></label>${inner}`
    browser = await startChromium(on(), { content: (html) => html.replace('<script>', `${extra}<script>`) })
    const window = await until('the window of the browser', async () =>
      (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
    )
    target = { pid: browser.pid, window_id: window.window_id }
    await until('the page on the accessibility bus', async () =>
      (await look(target)).elements.some(({ label }) => label === 'Press me'),
    )
  })

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]()
    await frame.stop(true)
  })

  test('says how many of its 500 buttons are below, and finds each', async () => {
    // A browser tells of a long page in parts, and the field behind the article is the last element of the page itself.
    const shown = await until('the whole page', async () => {
      const state = await look(target)
      const inView = state.elements.filter(({ label }) => label.startsWith('Buy ')).length
      return state.offscreen.below >= 500 - inView + 1 && state
    })
    expect(shown.offscreen).toMatchObject({ above: 0 })
    expect(shown.offscreen.texts).toBeGreaterThanOrEqual(120)
    const whole = await look(target, { include_offscreen: true })
    const labels = whole.elements.map(({ label }) => label).filter((label) => label.startsWith('Buy '))
    expect(new Set(labels).size).toBe(500)
    const { text } = await client.call('get_window_state', { ...target, capture_mode: 'ax', query: 'Paragraph 100 of' })
    expect(text).toContain('- static = "Paragraph 100 of the article." [offscreen]')
  })

  test('is acted on where it is out of view', async () => {
    const mark = browser.journal.mark()
    const middle = { ...target, element_index: (await found(target, 'Buy 400')).element_index, button: 'middle' }
    const clicked = await client.ask<Facts>('click', middle)
    expect(clicked).toMatchObject({ scrolled_into_view: 'toolkit' })
    const isThere = ({ type, target: id, isTrusted }: Entry) =>
      type === 'auxclick' && id === 'buy-400' && isTrusted === true
    await browser.journal.waitFor('the click', isThere, mark)
    const typed = await client.ask<Facts>('type_text', {
      ...target,
      element_index: (await found(target, 'Far')).element_index,
      text: 'hello',
    })
    expect(typed).toMatchObject({ effect: 'confirmed', scrolled_into_view: 'toolkit' })
    const isTyped = ({ target: id, value }: Entry) => id === 'far' && value === 'hello'
    await browser.journal.waitFor('the text', isTyped, mark)
    await client.ask('page', { ...target, action: 'click_element', selector: '#buy-20' })
    const isClicked = ({ type, target: id, isTrusted }: Entry) =>
      type === 'click' && id === 'buy-20' && isTrusted === true
    await browser.journal.waitFor('the click by selector', isClicked, mark)
    const shown = await look(target)
    expect(shown.offscreen.below).toBeGreaterThan(0)
  })

  test('is read whole, and waited for', async () => {
    const read = await client.ask<Facts>('page', { ...target, action: 'get_text' })
    expect(read.text).toContain('Paragraph 119 of the article.')
    expect(read.is_truncated).toBe(false)
    const buttons = await client.ask<Facts & { elements: Facts[] }>('page', {
      ...target,
      action: 'query_dom',
      css_selector: '#buy-499',
    })
    expect(buttons).toMatchObject({ count: 1, elements: [{ is_in_viewport: false }] })
    const waited = await client.ask<Facts>('wait_for', { ...target, condition: 'element', label: 'Buy 450' })
    expect(waited).toMatchObject({ met: true })
  })

  test('holds the frame of another site', async () => {
    const top = await found(target, 'Press me')
    await client.ask('click', { ...target, element_index: top.element_index, button: 'middle' })
    const framed = await until('the frame on the accessibility bus', () =>
      found(target, 'Framed').catch(() => undefined),
    )
    expect(framed.offscreen).toBe(true)
    await client.ask('click', { ...target, element_index: framed.element_index, modifier: ['ctrl'] })
    await pressed.promise
  })
})
