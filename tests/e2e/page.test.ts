import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, startChromium } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { inBothForms } from '../support/forms.ts'
import { type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { withWebFixture } from '../support/web-fixture.ts'

const on = privateDesktop()
let client: McpClient
let browser: Browser
let target: Target
let person: Person

beforeAll(async () => {
  client = await connect(on())
  browser = await startChromium(on(), { content: withWebFixture, flags: ['--remote-debugging-port=0'] })
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

const script = (javascript: string, more: Facts = {}) =>
  client.call('page', { ...target, action: 'execute_javascript', javascript, ...more })

const result = async (javascript: string): Promise<unknown> => {
  const { isError, text, structured } = await script(javascript)
  expect({ javascript, isError, text: isError ? text : '' }).toEqual({ javascript, isError: false, text: '' })
  return structured.result
}

const refusal = async (args: Facts): Promise<Facts> => {
  const { isError, structured } = await client.call('page', { ...target, ...args })
  expect(isError).toBe(true)
  return structured
}

/** What the person's window may see of a press in Chromium, which grabs every pointer for a moment. */
const crossings = ['enter-notify', 'leave-notify']

test(
  'JavaScript gives any JSON value, in both forms',
  proving(['driver.page.call', 'driver.page.execute-javascript', 'driver.page.target'], async () => {
    const value = { a: [1, -0.5, 'Grüße 世界', null, true], b: { c: {} } }
    const args = { ...target, action: 'execute_javascript', javascript: `(${JSON.stringify(value)})` }
    for (const answer of await inBothForms<Facts>(on(), client, 'page', args)) {
      expect(answer).toMatchObject({ ...target, result: value, result_type: 'object', is_json: true, route: 'cdp' })
    }
    expect((await client.ask<Facts>('page', { ...args, pid: null })).result).toEqual(value)
    expect((await client.ask<Facts>('page', { ...args, window_id: null })).result).toEqual(value)
  }),
)

test('scripts are expressions, statements with await, or bodies with return; none keeps its names', async () => {
  for (const _ of [1, 2]) expect(await result('const kept = 20; kept * 2 + 2')).toBe(42)
  expect(await result('await Promise.resolve(7)')).toBe(7)
  expect(await result('const it = await new Promise((done) => setTimeout(done, 20, 8)); it')).toBe(8)
  expect(await result('new Promise((done) => setTimeout(done, 20, { late: true }))')).toEqual({ late: true })
  expect(await result('if (true) return document.title; return 0')).toBe(browser.title)
  expect(await result('"a" // with a remark')).toBe('a')
})

test('a script whose braces do not match is run once, and never while its form is found', async () => {
  await result('globalThis.count = 0')
  await result('} count += 1; {')
  await result('})(); count += 10; (() => {')
  await result('}); count += 100; (() => {')
  await script('} count += 1000; (')
  expect(await result('count')).toBe(111)
})

test('what JSON has no word for is described and called so', async () => {
  const rows = [
    ['undefined', 'undefined', 'undefined'],
    ['() => 1', 'function', '[function anonymous]'],
    ['12345678901234567890n', 'bigint', '12345678901234567890n'],
    ['NaN', 'number', 'NaN'],
    ['const ring = { a: 1 }; ring.ring = ring; ring', 'object', { a: 1, ring: '[circular]' }],
    ['document.getElementById("press")', 'object', '<button id="press">'],
    ['[new Map([[1, 2]]), new Set([3]), 4n]', 'array', [[[1, 2]], [3], '4n']],
  ] as const
  for (const [javascript, result_type, result] of rows) {
    const { structured } = await script(javascript)
    expect({ javascript, ...structured }).toMatchObject({ javascript, result_type, result, is_json: false })
  }
})

test('a script that throws fails with its stack', async () => {
  const { structured, text } = await script('function inner() { throw new TypeError("boom") }\ninner()')
  expect(structured.code).toBe('script_failed')
  expect(text).toContain('TypeError: boom')
  expect(String(structured.stack)).toContain('at inner')
  expect((await script('let = ;')).structured).toMatchObject({
    code: 'script_failed',
    stack: expect.stringContaining('SyntaxError'),
  })
  expect((await script('throw { reason: 7 }')).structured.code).toBe('script_failed')
  expect((await script('Promise.reject(new RangeError("late"))')).text).toContain('RangeError: late')
})

test('a page is read while the person has paused all actions', async () => {
  await on().run(driverCommand('pause'))
  try {
    expect((await client.ask<Facts>('page', { ...target, action: 'get_text' })).text).toContain('Backlot page')
    const found = await client.ask<Facts>('page', { ...target, action: 'query_dom', css_selector: 'title' })
    expect(found.count).toBe(1)
    expect(await refusal({ action: 'execute_javascript', javascript: '1' })).toMatchObject({ code: 'paused_by_person' })
    expect(await refusal({ action: 'click_element', selector: 'body' })).toMatchObject({ code: 'paused_by_person' })
  } finally {
    await on().run(driverCommand('resume'))
  }
})

test('an endless script and an endless promise end with the limit, and the page goes on', async () => {
  for (const javascript of ['while (true);', 'new Promise(() => {})', '(async () => { await 0; while (true); })()']) {
    const { structured } = await script(javascript, { timeout_ms: 400 })
    expect({ javascript, ...structured }).toMatchObject({ javascript, code: 'script_timeout', page_answers: true })
  }
  expect(await result('1 + 1')).toBe(2)
})

test('a page that is covered goes on drawing and counting while it is worked in', async () => {
  const frames = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done("drawn"))))'
  expect(await result(frames)).toBe('drawn')
})

test('a page cannot forge what its elements are by changing its own functions', async () => {
  await result('document.querySelectorAll = () => []; Element.prototype.getAttribute = () => "forged"')
  const { elements } = await client.ask<{ elements: Facts[] }>('page', {
    ...target,
    action: 'query_dom',
    css_selector: '#press',
    attributes: ['id'],
  })
  expect(elements).toMatchObject([{ tag: 'button', attributes: { id: 'press' } }])
})

test(
  'the visible text is read, in frames too, and what is hidden is not',
  proving(['driver.page.get-text'], async () => {
    const { text, is_truncated } = await client.ask<Facts>('page', { ...target, action: 'get_text' })
    for (const part of ['Backlot page', 'grüße 世界', 'Inside the frame', 'Row 249']) expect(text).toContain(part)
    expect(text).not.toContain('not seen')
    expect(is_truncated).toBe(false)
  }),
)

test(
  'elements are found with the attributes asked for, and a limit says so',
  proving(['driver.page.query-dom', 'driver.page.attributes'], async () => {
    const query = (css_selector: string, more: Facts = {}) =>
      client.ask<{ elements: Facts[] } & Facts>('page', { ...target, action: 'query_dom', css_selector, ...more })
    const rows = await query('li.row', { attributes: ['data-n', 'href'] })
    expect(rows).toMatchObject({ count: 250, is_truncated: true })
    expect(rows.elements).toHaveLength(200)
    expect(rows.elements[3]).toMatchObject({ tag: 'li', text: 'Row 3', attributes: { 'data-n': '3', href: null } })
    expect((await query('#secret')).elements).toMatchObject([
      { attributes: { id: 'secret', type: 'password', 'data-kind': 'word' }, is_visible: true },
    ])
    expect((await query('#secret')).elements[0]).not.toHaveProperty('value')
    expect((await query('#unseen')).elements).toMatchObject([{ is_visible: false }])
    expect(await query('nothing')).toMatchObject({ count: 0, elements: [] })
    const { code, argument } = await refusal({ action: 'query_dom', css_selector: 'a[' })
    expect({ code, argument }).toEqual({ code: 'invalid_argument', argument: 'css_selector' })
  }),
)

test(
  'an element is clicked by selector with trusted events, by the agent pointer, unseen by the person',
  proving(['driver.page.click-element', 'driver.page.click-element-cursor'], async () => {
    await person.undisturbed(async () => {
      const mark = browser.journal.mark()
      const clicked = await client.ask<Facts>('page', { ...target, action: 'click_element', selector: '#press' })
      expect(clicked).toMatchObject({
        selector: '#press',
        matches: 1,
        effect: 'confirmed',
        route: 'agent_pointer',
        pointer_moved: true,
      })
      for (const type of ['mousedown', 'mouseup', 'click']) {
        const event = await browser.journal.waitFor(type, (entry) => entry.type === type, mark)
        expect(event).toMatchObject({ target: 'press', isTrusted: true, button: 0 })
        expect([event.x, event.y]).toEqual([
          Math.floor(Number(clicked.viewport_x)),
          Math.floor(Number(clicked.viewport_y)),
        ])
      }
    }, crossings)
  }),
)

test('the cursor of a session glides to an element before it is clicked', async () => {
  const session = 'gliding'
  const folder = on().path('gliding')
  const glide_duration_ms = 700
  await client.ask('start_session', { session })
  await client.ask('set_agent_cursor_motion', { cursor_id: session, glide_duration_ms })
  await client.ask('move_cursor', { x: 5, y: 5, session })
  await client.ask('start_recording', { session, output_dir: folder })
  await result('addEventListener("click", () => { globalThis.clickedAt = Date.now() }, { once: true, capture: true })')
  const clicked = await client.ask<Facts>('page', { ...target, action: 'click_element', selector: '#press', session })
  const at = { x: Math.floor(Number(clicked.screen_x)), y: Math.floor(Number(clicked.screen_y)) }
  expect(await client.ask<Facts>('get_agent_cursor_state', { cursor_id: session })).toMatchObject({ position: at })
  await client.ask('end_session', { session })
  const way: Facts[] = readFileSync(join(folder, 'cursor.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(way).toMatchObject([
    { kind: 'glide', session, ...at },
    { kind: 'pulse', session, ...at },
    { kind: 'hide', session, ...at },
  ])
  // The browser's clock is the one of the driver.
  const arrived = Date.parse(String(way[0]?.timestamp)) + glide_duration_ms
  expect(await result('clickedAt')).toBeGreaterThanOrEqual(arrived)
})

test('an element far down is scrolled to', async () => {
  for (const [selector, id] of [
    ['li[data-n="249"]', ''],
    ['#deep', 'deep'],
    ['#press', 'press'],
  ] as const) {
    const mark = browser.journal.mark()
    const { effect } = await client.ask<Facts>('page', { ...target, action: 'click_element', selector })
    expect({ selector, effect }).toEqual({ selector, effect: 'confirmed' })
    await browser.journal.waitFor('the click', (entry) => entry.type === 'click' && entry.target === id, mark)
  }
})

test('an element that a click would not meet is refused with the reason, and nothing is pressed', async () => {
  const mark = browser.journal.mark()
  for (const [selector, reason] of [
    ['#covered', 'is covered'],
    ['#unseen', 'is not visible'],
    ['#flat', 'has no size'],
    ['#disabled', 'is disabled'],
  ]) {
    const { code, ...facts } = await refusal({ action: 'click_element', selector })
    expect({ code, ...facts }).toMatchObject({ code: 'page_element_not_clickable', selector, reason })
  }
  expect((await refusal({ action: 'click_element', selector: '#covered' })).by).toBe('span#cover')
  expect((await refusal({ action: 'click_element', selector: '#none' })).code).toBe('page_element_not_found')
  expect((await refusal({ action: 'click_element', selector: ':::' })).argument).toBe('selector')
  expect(browser.journal.entries(mark).filter(({ type }) => type === 'mousedown')).toEqual([])
})

test('a dialog is named while it is open', async () => {
  await client.ask('page', { ...target, action: 'click_element', selector: '#asks' })
  const { code, dialog } = await until('the dialog', async () => {
    const { structured } = await client.call('page', { ...target, action: 'get_text' })
    return structured.code === undefined ? false : structured
  })
  expect({ code, dialog }).toEqual({ code: 'page_dialog_open', dialog: { type: 'alert', message: 'Really?' } })
  await client.ask('press_key', { ...target, key: 'return' })
  await until('the page to answer', async () => !(await script('1')).isError)
})

test('a page that hangs is told from a script that takes long, and does not block another call', async () => {
  // The page hangs in a request without a callback until it is answered.
  const release = Promise.withResolvers<void>()
  const headers = { 'access-control-allow-origin': '*' }
  const fetch = () => release.promise.then(() => new Response('', { headers }))
  await using server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch })
  const hang = `const request = new XMLHttpRequest(); request.open('GET', '${server.url}', false); request.send()`
  await result(`setTimeout(() => { ${hang} }); 0`)
  const [{ code }] = await Promise.all([
    refusal({ action: 'get_text' }),
    client.ask('list_windows', { pid: browser.pid }),
  ])
  expect(code).toBe('page_not_responding')
  release.resolve()
  await until('the page to answer', async () => !(await script('1')).isError)
})

test('a page that leaves in the middle of a script is gone, and the next call finds the new one', async () => {
  const mark = browser.journal.mark()
  const { structured } = await script('location.search = "?gone"; new Promise(() => {})', { timeout_ms: 8_000 })
  expect(structured.code).toBe('page_gone')
  await browser.journal.waitFor('the new page', ({ type }) => type === 'ready', mark)
  expect(await result('location.search')).toBe('?gone')
  const left = browser.journal.mark()
  await client.ask('page', { ...target, action: 'click_element', selector: '#away' })
  await browser.journal.waitFor('the next page', ({ type }) => type === 'ready', left)
  expect(await result('location.search')).toBe('?left')
})

test(
  'what an action needs is required',
  proving(['driver.page.javascript-required'], async () => {
    for (const [action, argument] of [
      ['execute_javascript', 'javascript'],
      ['query_dom', 'css_selector'],
      ['click_element', 'selector'],
    ]) {
      const { code, ...facts } = await refusal({ action })
      expect({ action, code, argument: facts.argument }).toEqual({ action, code: 'missing_argument', argument })
    }
    expect((await client.call('page', { action: 'get_text' })).structured.argument).toBe('pid')
    expect((await client.call('page', { action: 'get_text', bundle_id: 'none' })).structured.code).toBe('app_not_found')
  }),
)

test('what only macOS has is refused with its reason', async () => {
  const given = { bundle_id: 'chromium', user_has_confirmed_enabling: true }
  const { code, message } = await refusal({ action: 'enable_javascript_apple_events', ...given })
  expect(code).toBe('not_on_this_platform')
  expect(message).toContain('macOS')
})

test('a window without a page is refused', async () => {
  const { structured } = await client.call('page', { pid: person.window.pid, action: 'get_text' })
  expect(structured.code).toBe('page_not_found')
})

// The last: a secret is one for as long as the daemon runs.
test('a secret that a page makes a number or a word of is masked as its text is', async () => {
  await client.ask('clipboard_write', { text: '24681357', secret: true })
  const masked = '•'.repeat(8)
  expect(await result('24681357')).toBe(masked)
  const made = '({ deep: [24681357, 7], beside: 5246813579, word: false, "24681357": 1 })'
  const expected = { deep: [masked, 7], beside: masked, word: false, [masked]: 1 }
  expect(await result(made)).toEqual(expected)
  const { text, structured } = await client.call('run_steps', {
    steps: [
      { tool: 'page', arguments: { ...target, action: 'execute_javascript', javascript: made }, keep: true },
      { tool: 'clipboard_write', arguments: { text: 'false', secret: true } },
    ],
  })
  expect(structured).toMatchObject({ steps: [{ result: { ...target, result: { ...expected, word: masked } } }, {}] })
  expect([text, JSON.stringify(structured)].filter((each) => each.includes('24681357'))).toEqual([])
  expect(await result('[!0, !1]')).toEqual([true, masked])
})
