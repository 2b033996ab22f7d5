import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, elementsOf, type ListedElement, middleOf, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { asPerson, boundsOf, displayState, photograph, pixelsOf, witnessedTree } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let app: Application
let target: Target
let person: Person

beforeAll(async () => {
  app = await startGtk3(on(), 'controls', { geometry: '420x480+120+100' })
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

/** Modifiers as they are named, and as the application sees them held. */
const modifiers: readonly (readonly [given: string[], held: string[]])[] = [
  [['cmd'], ['cmd']],
  [['shift'], ['shift']],
  [['option'], ['alt']],
  [['alt'], ['alt']],
  [['ctrl'], ['ctrl']],
  [
    ['cmd', 'shift', 'option', 'ctrl'],
    ['shift', 'ctrl', 'alt', 'cmd'],
  ],
]

/** Runs an action on the element of that label. */
const onElement = async (tool: string, label: string, args: Record<string, unknown> = {}) => {
  const { element_index } = await element(client, target, label)
  return client.ask(tool, { ...target, element_index, ...args })
}

test('a covered window looks as it does uncovered, pixel by pixel', async () => {
  // The window loses the focus before the first picture, as GTK draws windows in the background differently.
  const other = await startGtk3(on(), 'person', { title: 'Elsewhere', geometry: '200x100+1000+650' })
  await app.journal.waitFor(
    'the loss of the focus',
    ({ type, focused }) => type === 'focus-change' && focused === false,
  )
  const uncovered = await until('the window to settle', async () => {
    const [first, second] = [await photograph(on(), app.windowId), await photograph(on(), app.windowId)]
    return first.rgb.equals(second.rgb) && first
  })
  process.kill(other.pid)
  person = await seatPerson(on())
  const { image } = await client.call('get_window_state', { ...target, capture_mode: 'vision' })
  const covered = await pixelsOf(image ?? Buffer.alloc(0))
  expect([covered.width, covered.height]).toEqual([uncovered.width, uncovered.height])
  expect(covered.rgb.equals(uncovered.rgb)).toBe(true)
  expect((await displayState(on())).stacking.at(-1)).toBe(person.window.windowId)
})

test(
  'the window is listed with its place, pid and title',
  proving(
    [
      'driver.list-windows.pid',
      'driver.window.window-id',
      'driver.window.pid',
      'driver.window.title',
      'driver.window.bounds',
    ],
    async () => {
      const windows = await windowsOf(client, app.pid)
      const bounds = await boundsOf(on(), app.windowId)
      expect(bounds).toMatchObject({ width: 420, height: 480 })
      expect(windows).toMatchObject([{ ...target, title: app.title, bounds }])
    },
  ),
)

test(
  'every element that an independent walk finds and a person can operate is in the tree, where it is',
  proving(['driver.index.tags'], async () => {
    const walked = await witnessedTree(on(), app.pid, app.title)
    const operable = walked.filter(
      ({ name, states, actions, extents }) =>
        name !== '' &&
        states.includes('showing') &&
        (actions.length > 0 || states.includes('editable')) &&
        extents !== null,
    )
    expect(operable.length).toBeGreaterThanOrEqual(10)
    const [window] = await windowsOf(client, app.pid)
    const ours = (await elementsOf(client, target)).map(({ role, label, frame }) => ({
      role,
      label,
      place: [frame.x - (window?.bounds.x ?? 0), frame.y - (window?.bounds.y ?? 0), frame.w, frame.h],
    }))
    for (const { role, name, extents } of operable) {
      expect(ours).toContainEqual({ role, label: name, place: [...(extents ?? [])] })
    }
    const state = await client.ask<{ tree_markdown: string; elements: ListedElement[] }>('get_window_state', {
      ...target,
    })
    for (const { element_index, role, label } of state.elements) {
      expect(state.tree_markdown).toContain(`- [element_index ${element_index}] ${role} "${label}"`)
    }
    expect(state.tree_markdown.match(/\[element_index \d+\]/g)).toHaveLength(state.elements.length)
  }),
)

test(
  'elements are operated without the person noticing',
  proving(
    [
      'driver.click.element',
      'driver.click.element-backgrounded',
      'driver.click.element-no-theft',
      'driver.click.action.press',
    ],
    async () => {
      await person.undisturbed(async () => {
        const mark = app.journal.mark()
        await onElement('click', 'Press me')
        await app.journal.waitFor('the button', ({ type, widget }) => type === 'clicked' && widget === 'Press me', mark)
        await onElement('click', 'Check me')
        await app.journal.waitFor(
          'the check box',
          ({ type, widget, value }) => type === 'toggled' && widget === 'Check me' && value === true,
          mark,
        )
        await onElement('click', 'Coffee')
        await app.journal.waitFor(
          'the radio button',
          ({ type, widget, value }) => type === 'toggled' && widget === 'Coffee' && value === true,
          mark,
        )
      })
    },
  ),
)

test(
  'text of every script is inserted',
  proving(['driver.type-text.element', 'driver.type-text.call'], async () => {
    const text = 'Grüße, 世界! שלום 👋🏽 é'
    await person.undisturbed(async () => {
      for (const widget of ['Name', 'Notes']) {
        const mark = app.journal.mark()
        await onElement('type_text', widget, { text })
        await app.journal.waitFor(
          `the text in ${widget}`,
          (entry) => entry.type === 'changed' && entry.widget === widget && entry.value === text,
          mark,
        )
      }
    })
  }),
)

test('a menu opens as a window of its own, and an item of it is chosen', async () => {
  const mark = app.journal.mark()
  await onElement('click', 'File')
  const popup = await until('the menu', async () =>
    (await windowsOf(client, app.pid)).find(({ kind }) => kind === 'popup'),
  )
  expect(popup.owner_window_id).toBe(app.windowId)
  await onElement('click', 'Open')
  await app.journal.waitFor('the item', ({ type, value }) => type === 'menu' && value === 'Open', mark)
  await until('the menu to close', async () => (await windowsOf(client, app.pid)).every(({ kind }) => kind !== 'popup'))
})

test('what another window covers is clicked and typed into, and the window in front sees nothing', async () => {
  const [button, field] = [await middleOf(client, target, 'Press me'), await middleOf(client, target, 'Name')]
  await person.undisturbed(async () => {
    const mark = app.journal.mark()
    await client.ask('click', { ...target, ...button })
    await app.journal.waitFor('the button', ({ type }) => type === 'clicked', mark)
    await client.ask('click', { ...target, ...field })
    await client.ask('press_key', { ...target, key: 'x' })
    await app.journal.waitFor('the key', ({ type, key }) => type === 'key-press' && key === 'x', mark)
  })
})

test(
  'pixels of the visible part of a window are clicked without the person noticing',
  proving(['driver.click.pixel'], async () => {
    await person.moveTo(400, 40)
    const point = await middleOf(client, target, 'Press me')
    await person.undisturbed(async () => {
      const mark = app.journal.mark()
      await client.ask('click', { ...target, ...point })
      await app.journal.waitFor('the button', ({ type }) => type === 'clicked', mark)
      const [press] = app.journal.entries(mark).filter(({ type }) => type === 'button-press')
      expect(press).toMatchObject({ send_event: false, button: 1, widget: 'Press me', modifiers: [] })
      expect(press?.device).not.toContain('Virtual core')
    })
  }),
)

test(
  'a pixel is clicked twice, and with modifiers held',
  proving(['driver.click.count', 'driver.click.modifier'], async () => {
    const point = await middleOf(client, target, 'Name')
    await person.undisturbed(async () => {
      const mark = app.journal.mark()
      await client.ask('click', { ...target, ...point, count: 2 })
      await app.journal.waitFor('the double click', ({ type }) => type === '2button-press', mark)
      for (const [modifier, held] of modifiers) {
        const since = app.journal.mark()
        await client.ask('click', { ...target, ...point, modifier })
        const press = await app.journal.waitFor('the click', ({ type }) => type === 'button-press', since)
        expect([modifier, press.modifiers]).toEqual([modifier, held])
      }
    })
  }),
)

test(
  'keys reach the focused element as a keyboard of its own would send them',
  proving(
    [
      'driver.press-key.call',
      'driver.press-key.no-focus-theft',
      'driver.press-key.element',
      'driver.press-key.modifiers',
    ],
    async () => {
      await person.undisturbed(async () => {
        const mark = app.journal.mark()
        await onElement('press_key', 'Name', { key: 'a', modifiers: ['ctrl'] })
        const press = await app.journal.waitFor('ctrl+a', ({ type, key }) => type === 'key-press' && key === 'a', mark)
        expect(press).toMatchObject({ send_event: false, modifiers: ['ctrl'] })
        for (const [given, held] of modifiers) {
          const since = app.journal.mark()
          await client.ask('press_key', { ...target, key: 'f7', modifiers: given })
          const { modifiers: seen } = await app.journal.waitFor(
            'the key with modifiers',
            ({ type, key }) => type === 'key-press' && key === 'F7',
            since,
          )
          expect([given, seen]).toEqual([given, held])
        }
        await client.ask('press_key', { ...target, key: 'delete' })
        await app.journal.waitFor(
          'the empty field',
          ({ type, widget, value }) => type === 'changed' && widget === 'Name' && value === '',
          mark,
        )
        await client.ask('press_key', { ...target, key: 'x' })
        await app.journal.waitFor(
          'the letter',
          ({ type, widget, value }) => type === 'changed' && widget === 'Name' && value === 'x',
          mark,
        )
      })
    },
  ),
)

test(
  'a minimised window is operated by element, and refuses pixels',
  proving(['driver.click.element-minimized', 'driver.click.pixel-visible'], async () => {
    await asPerson.minimize(on(), app.windowId)
    await until('the window to be minimised', async () => (await windowsOf(client, app.pid))[0]?.is_minimized)
    const mark = app.journal.mark()
    await onElement('click', 'Press me')
    await app.journal.waitFor('the button', ({ type }) => type === 'clicked', mark)
    const refused = await client.call('click', { ...target, x: 10, y: 10 })
    expect(refused.structured.code).toBe('window_not_visible')
    await asPerson.activate(on(), app.windowId)
    await until('the window to be back', async () => (await displayState(on())).active_window === app.windowId)
  }),
)
