import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Browser, startFirefox } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { elementsOf, listedWindow, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { until } from '../support/until.ts'
import { freePort, withWebFixture } from '../support/web-fixture.ts'

const on = privateDesktop()
const port = freePort()
let client: McpClient
let browser: Browser
let target: Target
let person: Person

beforeAll(async () => {
  client = await connect(on())
  browser = await startFirefox(on(), { content: withWebFixture, flags: ['--remote-debugging-port', `${port}`] })
  const window = await until('the window of the browser', async () =>
    (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
  )
  target = { pid: window.pid, window_id: window.window_id }
  person = await seatPerson(on(), '1100x780+30+10')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await browser?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

const page = (args: Facts) => client.call('page', { ...target, ...args })
const script = (javascript: string, more: Facts = {}) => page({ action: 'execute_javascript', javascript, ...more })

test('JavaScript gives values, described where JSON has no word, and failures with their stack', async () => {
  for (const [javascript, result, result_type] of [
    ['({ a: [1, null, "世界"] })', { a: [1, null, '世界'] }, 'object'],
    ['const kept = 20; kept + 1', 21, 'number'],
    ['const kept = 20; kept + 1', 21, 'number'],
    ['await Promise.resolve(7)', 7, 'number'],
    ['return document.title', 'Backlot page', 'string'],
    ['undefined', 'undefined', 'undefined'],
    ['5n', '5n', 'bigint'],
    ['-0 / 0', 'NaN', 'number'],
    ['null', null, 'null'],
    ['const ring = {}; ring.ring = ring; ring', { ring: '[circular]' }, 'object'],
    ['document.body', '<body>', 'object'],
  ] as const) {
    const { structured } = await script(javascript)
    expect({ javascript, ...structured }).toMatchObject({ javascript, result, result_type, route: 'webdriver_bidi' })
  }
  const { structured, text } = await script('function inner() { throw new TypeError("boom") }\ninner()')
  expect(structured.code).toBe('script_failed')
  expect(text).toMatch(/TypeError: boom[\s\S]*at inner/)
  expect((await script('let = ;')).structured.code).toBe('script_failed')
  expect((await script('JSON.parse("{")')).text).toContain('SyntaxError')
})

test('a click on the place that the tree tells of an element hits it, below the title bar that is none of it', async () => {
  const { frame } = await until('the field', async () =>
    (await elementsOf(client, target)).find(({ role, frame: { w } }) => role === 'password text' && w > 0),
  )
  const { x, y } = (await listedWindow(client, target.window_id)).bounds
  const place = { x: frame.x + Math.floor(frame.w / 2) - x, y: frame.y + Math.floor(frame.h / 2) - y }
  await client.ask('click', { ...target, ...place })
  await until('the field to have the focus', async () => {
    const { structured } = await script('document.activeElement?.id')
    return structured.result === 'secret'
  })
})

test('a promise that never settles ends with the limit', async () => {
  const { structured } = await script('new Promise(() => {})', { timeout_ms: 400 })
  expect(structured).toMatchObject({ code: 'script_timeout', page_answers: true })
})

test('text and elements are read', async () => {
  const { text } = (await page({ action: 'get_text' })).structured
  for (const part of ['grüße 世界', 'Inside the frame']) expect(text).toContain(part)
  expect(text).not.toContain('not seen')
  const { structured } = await page({ action: 'query_dom', css_selector: 'li.row', attributes: ['data-n'] })
  expect(structured).toMatchObject({ count: 250, is_truncated: true })
  expect((structured.elements as Facts[])[7]).toMatchObject({ tag: 'li', text: 'Row 7', attributes: { 'data-n': '7' } })
})

test('a covered window is clicked by selector with trusted events, unseen by the person', async () => {
  for (const [selector, id] of [
    ['#press', 'press'],
    ['#deep', 'deep'],
    ['#check', 'check'],
  ] as const) {
    await person.undisturbed(async () => {
      const mark = browser.journal.mark()
      const { structured, text } = await page({ action: 'click_element', selector })
      expect({ text, ...structured }).toMatchObject({ selector, effect: 'confirmed', route: 'webdriver_bidi' })
      const event = await browser.journal.waitFor('click', ({ type }) => type === 'click', mark)
      expect(event).toMatchObject({ target: id, isTrusted: true, button: 0 })
    })
  }
  expect((await page({ action: 'click_element', selector: '#covered' })).structured).toMatchObject({
    code: 'page_element_not_clickable',
    by: 'span#cover',
  })
})

test('a dialog is left to whoever answers it', async () => {
  await script('setTimeout(() => alert("Really?")); 0')
  const { structured } = await until('the dialog', async () => {
    const answer = await page({ action: 'get_text' })
    return answer.isError && answer
  })
  expect(structured).toMatchObject({ code: 'page_dialog_open', dialog: { type: 'alert', message: 'Really?' } })
  await client.ask('press_key', { ...target, key: 'return' })
  await until('the page to answer', async () => !(await script('1')).isError)
})

test('a browser that another client debugs is busy, and is free once that client has ended', async () => {
  const socket = await until('a session of another client', async () => {
    const other = new WebSocket(`ws://127.0.0.1:${port}/session`)
    await new Promise((resolve) => {
      other.onopen = resolve
    })
    const answer = new Promise<{ type: string }>((resolve) => {
      other.onmessage = ({ data }) => resolve(JSON.parse(String(data)))
    })
    other.send(JSON.stringify({ id: 1, method: 'session.new', params: { capabilities: {} } }))
    if ((await answer).type === 'success') return other
    other.close()
    return false
  })
  const { structured } = await script('1')
  expect(structured.code).toBe('page_busy')
  const ended = new Promise((resolve) => {
    socket.onmessage = resolve
  })
  socket.send(JSON.stringify({ id: 2, method: 'session.end', params: {} }))
  await ended
  socket.close()
  expect((await script('1')).structured.result).toBe(1)
})
