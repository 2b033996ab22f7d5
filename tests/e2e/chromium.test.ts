import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Browser, startChromium } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, elementsOf, middleOf, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { displayState, type Pixels, photograph, pixelsOf, witnessedTree } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let browser: Browser
let target: Target
let person: Person

beforeAll(async () => {
  client = await connect(on())
  browser = await startChromium(on())
  const found = await until('the window of the browser', async () =>
    (await windowsOf(client, browser.pid)).find(
      ({ kind, title }) => kind === 'normal' && title.includes(browser.title),
    ),
  )
  target = { pid: found.pid, window_id: found.window_id }
  await until('the elements of the page', async () =>
    (await elementsOf(client, target)).some(({ label }) => label === 'Press me'),
  )
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await browser?.[Symbol.asyncDispose]()
})

/** What the person's window may see of a press in Chromium, which grabs every pointer for a moment. */
const crossings = ['enter-notify', 'leave-notify']

test('a covered window looks as it does uncovered, pixel by pixel', async () => {
  const uncovered = await until('the window to settle', async () => {
    const [first, second] = [await photograph(on(), target.window_id), await photograph(on(), target.window_id)]
    return first.rgb.equals(second.rgb) && first
  })
  const look = async () => (await client.call('get_window_state', { ...target, capture_mode: 'vision' })).image
  const before = await look()
  person = await seatPerson(on(), '940x740+30+20')
  const covered = await pixelsOf((await look()) ?? Buffer.alloc(0))
  expect((await pixelsOf(before ?? Buffer.alloc(0))).rgb.equals(uncovered.rgb)).toBe(true)
  expect([covered.width, covered.height]).toEqual([uncovered.width, uncovered.height])
  // The frame of the window is drawn anew when it loses the focus; the page below it is not.
  const page = (await witnessedTree(on(), target.pid, browser.title)).find(({ role }) => role === 'document web')
  const [x, y, width, height] = page?.extents ?? [0, 0, 0, 0]
  expect(width * height).toBeGreaterThan(100_000)
  const pixelsOfPage = ({ rgb, ...all }: Pixels) =>
    Buffer.concat(
      Array.from({ length: height }, (_, row) => {
        const start = ((y + row) * all.width + x) * 3
        return rgb.subarray(start, start + width * 3)
      }),
    )
  expect(pixelsOfPage(covered).equals(pixelsOfPage(uncovered))).toBe(true)
})

test('every element that an independent walk finds on the page and a person can operate is in the tree', async () => {
  const roles = ['push button', 'check box', 'radio button', 'entry', 'combo box', 'link', 'page tab']
  const operable = async () =>
    (await witnessedTree(on(), target.pid, browser.title)).filter(
      ({ role, name, states, extents }) =>
        name !== '' && roles.includes(role) && states.includes('showing') && (extents?.[2] ?? 0) > 0,
    )
  // Chromium renames the tab now and then, by the memory that it uses: what is compared stands still meanwhile.
  const [walked, ours] = await until('a tree that stands still', async () => {
    const before = await operable()
    const listed = await elementsOf(client, target)
    return Bun.deepEquals(before, await operable()) && [before, listed]
  })
  expect(walked.length).toBeGreaterThanOrEqual(12)
  const known = ours.map(({ role, label }) => ({ role, label }))
  for (const { role, name } of walked) expect(known).toContainEqual({ role, label: name })
})

test('elements of the page are operated without the person noticing', async () => {
  await person.undisturbed(async () => {
    const mark = browser.journal.mark()
    for (const label of ['Press me', 'Check me', 'Coffee']) {
      const { element_index } = await element(client, target, label)
      await client.ask('click', { ...target, element_index })
    }
    for (const id of ['press', 'check', 'coffee']) {
      const click = await browser.journal.waitFor(
        `the click on ${id}`,
        ({ type, target }) => type === 'click' && target === id,
        mark,
      )
      expect(click.isTrusted).toBe(true)
    }
  })
})

test('a button without a menu is not chosen as an item of one', async () => {
  // A push button that has parts, as a menu button has.
  const label = 'Bookmark this tab'
  await element(client, target, label)
  const { structured } = await client.call('invoke_menu', { ...target, path: [label] })
  expect(structured).toMatchObject({ code: 'menu_not_found' })
})

test('pixels of the visible part of the page are clicked without the person noticing', async () => {
  await person.moveTo(500, 20)
  const point = await middleOf(client, target, 'Canvas').catch(() => middleOf(client, target, 'Press me'))
  await person.undisturbed(async () => {
    const mark = browser.journal.mark()
    await client.ask('click', { ...target, ...point })
    for (const type of ['mousedown', 'mouseup', 'click']) {
      const event = await browser.journal.waitFor(type, (entry) => entry.type === type, mark)
      expect(event).toMatchObject({ isTrusted: true, button: 0 })
    }
    const double = browser.journal.mark()
    await client.ask('click', { ...target, ...point, count: 2 })
    const event = await browser.journal.waitFor('the double click', ({ type }) => type === 'dblclick', double)
    expect(event.isTrusted).toBe(true)
  }, crossings)
})

test('text and keys arrive as if typed', async () => {
  const text = 'Grüße, 世界 👋 é'
  const { element_index } = await element(client, target, 'Name')
  await person.undisturbed(async () => {
    const mark = browser.journal.mark()
    await client.ask('type_text', { ...target, element_index, text })
    const typed = await browser.journal.waitFor(
      'the text',
      (entry) => entry.type === 'input' && entry.target === 'name' && entry.value === text,
      mark,
    )
    expect(typed.isTrusted).toBe(true)
    await client.ask('press_key', { ...target, element_index, key: 'end' })
    await client.ask('press_key', { ...target, element_index, key: 'a', modifiers: ['shift'] })
    await browser.journal.waitFor('the capital', (entry) => entry.type === 'input' && entry.value === `${text}A`, mark)
  }, crossings)
})

test('a shortcut is the one that was asked for, on every layout', async () => {
  const { element_index } = await element(client, target, 'Name')
  for (const layout of ['fr', 'de', 'ru', 'us']) {
    await on().run(['setxkbmap', layout])
    const mark = browser.journal.mark()
    await client.ask('type_text', { ...target, element_index, text: `on ${layout}` })
    await client.ask('hotkey', { ...target, keys: ['ctrl', 'a'] })
    await client.ask('press_key', { ...target, key: 'delete' })
    await browser.journal.waitFor(
      'the field emptied of what was selected',
      (entry) => entry.type === 'input' && entry.target === 'name' && entry.value === '',
      mark,
    )
    const held = browser.journal.entries(mark).filter(({ type, ctrl }) => type === 'keydown' && ctrl === true)
    // The key of "a" has another letter where the layout is not a Latin one.
    const letter = layout === 'ru' ? 'ф' : 'a'
    expect([...new Set(held.map(({ key }) => key))].filter((key) => key !== 'Control')).toEqual([letter])
  }
})

test(
  'an element shows its menu',
  proving(['driver.click.action.show-menu'], async () => {
    const mark = browser.journal.mark()
    const { element_index } = await element(client, target, 'Press me')
    await client.ask('click', { ...target, element_index, action: 'show_menu' })
    const menu = await browser.journal.waitFor('the menu', ({ type }) => type === 'contextmenu', mark)
    expect(menu.target).toBe('press')
    const popup = await until('the window of the menu', async () =>
      (await windowsOf(client, browser.pid)).find(({ kind }) => kind === 'popup'),
    )
    await client.ask('press_key', { pid: browser.pid, window_id: popup.window_id, key: 'escape' })
    await until('the menu to close', async () =>
      (await windowsOf(client, browser.pid)).every(({ kind }) => kind !== 'popup'),
    )
  }),
)

test('nothing of the agent stays in the page', async () => {
  const { children } = await displayState(on())
  const hidden = children.filter(({ input_shape }) => input_shape.length === 0)
  expect(hidden).toEqual([])
})
