import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startChromium, startFirefox, startGtk3, startGtk4, startQt } from '../support/applications.ts'
import { privateDesktop, type TestDesktop } from '../support/desktop.ts'
import type { Entry, Journal } from '../support/journal.ts'
import { elementsOf, type ListedElement, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { displayState } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let person: Person

beforeAll(async () => {
  person = await seatPerson(on(), '310x420+965+40')
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface Subject extends AsyncDisposable {
  readonly target: Target
  readonly journal: Journal
}

/** One value that is set, and what the application says of it. */
interface Case {
  /** Which element: its role, and its label where there are several. */
  readonly of: readonly [role: string, label?: string]
  readonly value: string
  readonly says: Readonly<Record<string, unknown>>
}

const window = async (pid: number, title: string): Promise<Target> => {
  const found = await until(`the window of ${title}`, async () =>
    (await windowsOf(client, pid)).find((each) => each.title.startsWith(title)),
  )
  return { pid: found.pid, window_id: found.window_id }
}

type Native = Promise<{ readonly pid: number; readonly windowId: number; readonly journal: Journal }>

const native =
  (start: (desktop: TestDesktop) => Native) =>
  async (desktop: TestDesktop): Promise<Subject> => {
    const { pid, windowId, journal } = await start(desktop)
    // The id may be that of a window that has just gone.
    await until('its window', async () =>
      (await windowsOf(client, pid)).some(({ window_id }) => window_id === windowId),
    )
    return {
      target: { pid, window_id: windowId },
      journal,
      async [Symbol.asyncDispose]() {
        process.kill(pid, 'SIGKILL')
        await until('its window to be gone', async () => {
          return !(await displayState(desktop)).stacking.includes(windowId)
        })
      },
    }
  }

/** A page with a slider and a number beside what it always has. */
const content = (html: string) =>
  html.replace(
    '<canvas',
    '<label>Volume <input type="range" id="volume"></label><label>Count <input type="number" id="count" max="100"></label><canvas',
  )

const browser =
  (start: typeof startChromium) =>
  async (desktop: TestDesktop): Promise<Subject> => {
    const running = await start(desktop, { content })
    return {
      target: await window(running.pid, running.title),
      journal: running.journal,
      [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
    }
  }

const changed = (widget: string, value: unknown) => ({ type: 'changed', widget, value })
const toggled = (widget: string, value: boolean) => ({ type: 'toggled', widget, value })

const gtk: readonly Case[] = [
  { of: ['slider', 'Volume'], value: '42', says: changed('Volume', 42) },
  { of: ['spin button', 'Count'], value: '7', says: changed('Count', 7) },
  { of: ['text', 'Name'], value: 'Grüße 世界 😀', says: changed('Name', 'Grüße 世界 😀') },
  { of: ['check box', 'Check me'], value: 'on', says: toggled('Check me', true) },
  { of: ['check box', 'Check me'], value: 'Unchecked', says: toggled('Check me', false) },
]

const qt: readonly Case[] = [
  { of: ['combo box'], value: 'quince', says: changed('Fruit', 'Quince') },
  { of: ['combo box'], value: 'Apple', says: changed('Fruit', 'Apple') },
  ...gtk,
  { of: ['radio button', 'Coffee'], value: 'true', says: toggled('Coffee', true) },
  { of: ['list item', 'Blue'], value: 'on', says: { type: 'selected', widget: 'Colours', value: 'Blue' } },
]

const page: readonly Case[] = [
  { of: ['combo box', 'Fruit'], value: 'quince', says: { type: 'change', target: 'fruit', value: 'Quince' } },
  { of: ['entry', 'Name'], value: 'Hello', says: { type: 'input', target: 'name', value: 'Hello' } },
  { of: ['slider', 'Volume'], value: '42', says: { type: 'change', target: 'volume', value: '42' } },
  { of: ['spin button', 'Count'], value: '7', says: { type: 'input', target: 'count', value: '7' } },
  { of: ['check box', 'Check me'], value: 'on', says: { type: 'change', target: 'check', checked: true } },
  { of: ['radio button', 'Coffee'], value: 'on', says: { type: 'change', target: 'coffee', checked: true } },
]

const subjects: readonly (readonly [string, (desktop: TestDesktop) => Promise<Subject>, readonly Case[]])[] = [
  [
    'GTK 3',
    native((desktop) => startGtk3(desktop, 'controls')),
    [
      { of: ['combo box', 'Fruit'], value: 'PEAR', says: changed('Fruit', 'Pear') },
      ...gtk,
      { of: ['radio button', 'Coffee'], value: 'on', says: toggled('Coffee', true) },
      { of: ['list box', 'Colours'], value: 'green', says: { type: 'selected', widget: 'Colours', value: 'Green' } },
      { of: ['list item', 'Blue'], value: 'selected', says: { type: 'selected', widget: 'Colours', value: 'Blue' } },
    ],
  ],
  [
    'GTK 4',
    native(startGtk4),
    [
      ...gtk,
      { of: ['check box', 'Coffee'], value: 'on', says: toggled('Coffee', true) },
      { of: ['check box', 'Light'], value: 'on', says: toggled('Light', true) },
      { of: ['list', 'Colours'], value: 'green', says: { type: 'selected', widget: 'Colours', value: 'Green' } },
    ],
  ],
  ['Qt 5', native((desktop) => startQt(desktop, 5)), qt],
  ['Qt 6', native((desktop) => startQt(desktop, 6)), qt],
  ['Chromium', browser(startChromium), page],
  ['Firefox', browser(startFirefox), page],
]

/** A press in Chromium grabs every pointer for that moment, which crosses the window under the person's. */
const grabbed = ['enter-notify', 'leave-notify']

const find = (elements: readonly ListedElement[], [role, label]: Case['of']): ListedElement | undefined =>
  elements.find((each) => each.role === role && (label === undefined || each.label === label))

const matches = (entry: Entry, says: Case['says']): boolean =>
  Object.entries(says).every(([key, value]) => entry[key] === value)

describe('values are set in the background, and the application hears of each', () => {
  for (const [name, start, cases] of subjects) {
    test(
      name,
      proving(
        ['driver.set-value.call', 'driver.set-value.option', 'driver.set-value.no-menu', 'driver.set-value.writes'],
        async () => {
          await using subject = await start(on())
          const { target, journal } = subject
          const ready = await until('its elements', async () => {
            const elements = await elementsOf(client, target)
            return cases.every(({ of }) => find(elements, of)) && elements
          })
          await person.undisturbed(
            async () => {
              for (const { of, value, says } of cases) {
                const mark = journal.mark()
                const { element_index } = find(ready, of) as ListedElement
                const did = await client.ask<Record<string, unknown>>('set_value', { ...target, element_index, value })
                expect({ of, effect: did.effect, route: did.route }).toMatchObject({ effect: 'confirmed' })
                await journal.waitFor(`${of.join(' ')} as ${value}`, (entry) => matches(entry, says), mark)
                const again = await client.ask<Record<string, unknown>>('set_value', {
                  ...target,
                  element_index,
                  value,
                })
                expect({ of, route: again.route, effect: again.effect }).toEqual({
                  of,
                  route: 'none',
                  effect: 'confirmed',
                })
                expect((await windowsOf(client, target.pid)).filter(({ kind }) => kind === 'popup')).toEqual([])
              }
            },
            name === 'Chromium' ? grabbed : [],
          )
        },
      ),
      120_000,
    )
  }
})

test('what an element does not accept is refused, and what it accepts is named', async () => {
  const { pid, windowId } = await startGtk3(on(), 'controls', { title: 'Backlot refusals' })
  const target = { pid, window_id: windowId }
  const elements = await elementsOf(client, target)
  const refused = [
    ['combo box', 'Fruit', 'banana', 'value_not_accepted', '"Apple", "Pear", "Quince"'],
    ['slider', 'Volume', '101', 'value_not_accepted', 'numbers from 0 to 100'],
    ['spin button', 'Count', 'many', 'value_not_accepted', 'numbers from 0 to 100'],
    ['check box', 'Check me', 'perhaps', 'value_not_accepted', 'on, off'],
    ['radio button', 'Tea', 'off', 'value_not_accepted', 'another of its group'],
    ['push button', 'Press me', 'on', 'value_not_supported', 'click'],
  ] as const
  for (const [role, label, value, code, way] of refused) {
    const element_index = find(elements, [role, label])?.element_index
    const { structured, text } = await client.call('set_value', { ...target, element_index, value })
    expect({ label, code: structured.code }).toEqual({ label, code })
    expect(text).toContain(way)
  }
})

test(
  'pid, window_id, element_index and value are required',
  proving(['driver.set-value.required'], async () => {
    const whole: Record<string, unknown> = { pid: 1, window_id: 1, element_index: 0, value: 'x' }
    for (const argument of Object.keys(whole)) {
      const { [argument]: _, ...rest } = whole
      const { isError, structured } = await client.call('set_value', rest)
      expect({ isError, code: structured.code, argument: structured.argument }).toEqual({
        isError: true,
        code: 'missing_argument',
        argument,
      })
    }
  }),
)
