import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Browser, startChromium } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'
import { withWebFixture } from '../support/web-fixture.ts'

const on = privateDesktop()
let client: McpClient
let browser: Browser
let chromium: Target

beforeAll(async () => {
  client = await connect(on())
  browser = await startChromium(on(), { content: withWebFixture })
  const window = await until('the window of the browser', async () =>
    (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
  )
  chromium = { pid: window.pid, window_id: window.window_id }
  await until('the page on the accessibility bus', async () => {
    const { structured } = await client.call('page', { ...chromium, action: 'query_dom', css_selector: '#press' })
    return structured.count === 1
  })
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await browser?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

const query = (target: Target, css_selector: string, more: Facts = {}) =>
  client.ask<Facts & { elements: Facts[] }>('page', { ...target, action: 'query_dom', css_selector, ...more })

test('a browser without a port is read, and says what it does not give', async () => {
  const { text, route } = await client.ask<Facts>('page', { ...chromium, action: 'get_text' })
  expect(route).toBe('accessibility')
  for (const part of ['A paragraph that nobody can operate.', 'grüße 世界', 'Press me']) expect(text).toContain(part)
  expect(text).not.toContain('not seen')
  const found = await query(chromium, 'button#press', { attributes: ['id', 'onclick'] })
  expect(found).toMatchObject({
    count: 1,
    elements: [{ tag: 'button', attributes: { id: 'press', onclick: null } }],
    attributes_unavailable: ['onclick'],
  })
  const { structured } = await client.call('page', { ...chromium, action: 'query_dom', css_selector: 'p > span' })
  expect(structured).toMatchObject({ code: 'invalid_argument', argument: 'css_selector' })
})

test('a browser without a port is clicked with trusted events', async () => {
  const mark = browser.journal.mark()
  const clicked = await client.ask<Facts>('page', { ...chromium, action: 'click_element', selector: '#check' })
  expect(clicked).toMatchObject({ selector: '#check', matches: 1, route: 'agent_pointer' })
  const event = await browser.journal.waitFor('the click', ({ type }) => type === 'click', mark)
  expect(event).toMatchObject({ target: 'check', isTrusted: true })
  const { structured } = await client.call('page', { ...chromium, action: 'click_element', selector: '#disabled' })
  expect(structured.code).toBe('page_element_not_clickable')
})

test('scripts need a port, and the refusal says how to get one', async () => {
  const args = { action: 'execute_javascript', javascript: '1' }
  const { structured, text } = await client.call('page', { ...chromium, ...args })
  expect(structured.code).toBe('page_needs_debugging_port')
  expect(text).toContain('electron_debugging_port')
})
