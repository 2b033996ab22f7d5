/** The toolkits of the matrix: how each is started, and what its own journal says of what reached it. */
import {
  type Browser,
  startCalc,
  startChromium,
  startFirefox,
  startGtk3,
  startGtk4,
  startQt,
  startXterm,
} from '../applications.ts'
import type { TestDesktop } from '../desktop.ts'
import type { Entry, Journal } from '../journal.ts'
import { elementsOf, type ListedElement, middleOf, type Target, windowsOf } from '../look.ts'
import type { McpClient } from '../mcp-client.ts'
import { until } from '../until.ts'
import { asPerson } from '../witness/index.ts'

/** A place in window pixels. */
export interface Place {
  readonly x: number
  readonly y: number
}

/** What a journal can be asked, each of the entries since a gesture began. */
export interface Witness {
  pressed(button: 1 | 2 | 3): boolean
  doubled(): boolean
  dragged(): boolean
  wheeled(): boolean
  /** The wheel was turned, a page key pressed, or what is shown has moved. */
  scrolled(): boolean
  /** The letter was pressed without modifiers. */
  key(letter: string): boolean
  /** The letter was pressed with Control. */
  control(letter: string): boolean
  /** The field holds the text, or all its bytes were read. */
  text(text: string): boolean
  /** The button, or what stands for it, was operated. */
  operated(): boolean
}

/** A running application to act on. */
export interface Scene extends AsyncDisposable {
  readonly target: Target
  readonly journal: Journal
  /** Where clicks go. */
  readonly place: Place
  /** From where to where drags go. */
  readonly path: readonly [Place, Place]
  /** Label of the text field and of the button, where the toolkit has elements. */
  readonly field: string | null
  readonly button: string | null
  /** Label of the element that is scrolled, where there is one. */
  readonly scrolls: string | null
  /** Whether a text is complete only with Return. */
  readonly needsReturn: boolean
  /** Whether a right click opens a menu. */
  readonly opensMenu: boolean
  witness(entries: readonly Entry[]): Witness
}

const none = { async [Symbol.asyncDispose]() {} }
const is = (entries: readonly Entry[], fits: Record<string, unknown>): boolean =>
  entries.some((entry) => Object.entries(fits).every(([name, value]) => entry[name] === value))
const many = (entries: readonly Entry[], type: string): number => entries.filter((entry) => entry.type === type).length

const gdk = (entries: readonly Entry[]): Witness => ({
  pressed: (button) => is(entries, { type: 'button-press', button }),
  doubled: () => is(entries, { type: '2button-press' }) || many(entries, 'button-press') >= 2,
  dragged: () => many(entries, 'motion-notify') >= 5 && is(entries, { type: 'button-release', button: 1 }),
  wheeled: () => is(entries, { type: 'scroll' }),
  scrolled: () => is(entries, { type: 'scroll' }) || is(entries, { type: 'key-press', key: 'Page_Down' }),
  key: (key) => is(entries, { type: 'key-press', key }),
  control: (key) =>
    entries.some(
      (entry) => entry.type === 'key-press' && entry.key === key && (entry.modifiers as string[]).includes('ctrl'),
    ),
  text: (value) => is(entries, { type: 'changed', widget: 'Name', value }),
  operated: () => is(entries, { type: 'clicked', widget: 'Press me' }),
})

const qt = (entries: readonly Entry[]): Witness => ({
  ...gdk(entries),
  // Qt::Key_PageDown.
  scrolled: () => is(entries, { type: 'scroll' }) || is(entries, { type: 'key-press', key: 0x01000017 }),
  key: (letter) => is(entries, { type: 'key-press', text: letter }),
  control: (letter) =>
    entries.some(
      (entry) =>
        entry.type === 'key-press' &&
        entry.key === letter.toUpperCase().charCodeAt(0) &&
        (entry.modifiers as string[]).includes('ctrl'),
    ),
})

const web = (entries: readonly Entry[]): Witness => {
  const trusted = entries.filter((entry) => entry.isTrusted === true)
  return {
    pressed: (button) => is(trusted, { type: 'mousedown', button: button - 1 }),
    doubled: () => is(trusted, { type: 'dblclick' }),
    dragged: () => many(trusted, 'mousemove') >= 5 && is(trusted, { type: 'mouseup', button: 0 }),
    wheeled: () => is(trusted, { type: 'wheel' }),
    scrolled: () => is(trusted, { type: 'wheel' }) || is(trusted, { type: 'keydown', key: 'PageDown' }),
    key: (key) => is(trusted, { type: 'keydown', key }),
    control: (key) => is(trusted, { type: 'keydown', key, ctrl: true }),
    text: (value) => is(trusted, { type: 'input', target: 'name', value }),
    operated: () => is(entries, { type: 'click', target: 'press' }),
  }
}

const terminal = (entries: readonly Entry[]): Witness => {
  const bytes = Buffer.concat(
    entries.filter(({ type }) => type === 'input').map((entry) => Buffer.from(String(entry.bytes), 'hex')),
  ).toString()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: reports of the pointer are escape sequences
  const report = /\u001b\[<(\d+);\d+;\d+([Mm])/g
  const reports = [...bytes.matchAll(report)].map(([, code, end]) => ({ code: Number(code), pressed: end === 'M' }))
  const typed = bytes.replaceAll(report, '')
  const presses = (code: number) => reports.filter((each) => each.pressed && each.code === code).length
  return {
    pressed: (button) => presses(button - 1) > 0,
    doubled: () => presses(0) >= 2,
    dragged: () => presses(32) >= 2 && reports.some((each) => !each.pressed),
    wheeled: () => presses(64) + presses(65) > 0,
    scrolled: () => false,
    key: (letter) => typed === letter,
    control: (letter) => typed === String.fromCharCode(letter.charCodeAt(0) - 96),
    text: (text) => typed === text,
    operated: () => false,
  }
}

const calc = (entries: readonly Entry[]): Witness => ({
  // com.sun.star.awt.MouseButton: LEFT 1, RIGHT 2, MIDDLE 4.
  pressed: (button) => is(entries, { type: 'button-press', button: { 1: 1, 2: 4, 3: 2 }[button] }),
  doubled: () => is(entries, { type: 'button-press', count: 2 }),
  dragged: () => {
    const press = entries.find(({ type }) => type === 'button-press')
    const release = entries.findLast(({ type }) => type === 'button-release')
    return press !== undefined && release !== undefined && press.x !== release.x
  },
  wheeled: () => is(entries, { type: 'scroll' }),
  // com.sun.star.awt.Key.PAGEDOWN is 1031.
  scrolled: () => is(entries, { type: 'scroll' }) || is(entries, { type: 'key-press', code: 1031 }),
  key: (text) => is(entries, { type: 'key-press', text }),
  // com.sun.star.awt.Key.A is 512, KeyModifier.MOD1 is 2.
  control: (letter) => is(entries, { type: 'key-press', code: 512 + letter.charCodeAt(0) - 97, modifiers: 2 }),
  text: (text) => entries.some(({ value }) => Array.isArray(value) && value.flat().includes(text)),
  operated: () => false,
})

/** The middle of the canvas, as the application says it, else of its field for notes. */
const placeOf = async (client: McpClient, target: Target, journal: Journal): Promise<Place> => {
  const canvas = journal.entries().find(({ type }) => type === 'ready')?.canvas as
    | { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
    | undefined
  if (canvas === undefined) return middleOf(client, target, 'Notes')
  return { x: Math.floor(canvas.x + canvas.width / 2), y: Math.floor(canvas.y + canvas.height / 2) }
}

const widgets =
  (
    start: (on: TestDesktop) => Promise<{ pid: number; windowId: number; journal: Journal }>,
    witness: Scene['witness'],
    opensMenu = true,
  ) =>
  async (on: TestDesktop, client: McpClient): Promise<Scene> => {
    const { pid, windowId, journal } = await start(on)
    const target = { pid, window_id: windowId }
    await asPerson.move(on, windowId, 110, 110)
    // Its window may be there before it is on the accessibility bus.
    await until('its elements', async () => {
      const { structured } = await client.call('get_window_state', { ...target, capture_mode: 'ax' })
      return (structured?.elements as ListedElement[] | undefined)?.some(({ label }) => label === 'Name')
    })
    const place = await placeOf(client, target, journal)
    const path = [place, { x: place.x + 60, y: place.y + 10 }] as const
    return {
      ...none,
      target,
      journal,
      place,
      path,
      field: 'Name',
      button: 'Press me',
      scrolls: 'Notes',
      needsReturn: false,
      opensMenu,
      witness,
    }
  }

const browser =
  (start: (on: TestDesktop) => Promise<Browser>) =>
  async (on: TestDesktop, client: McpClient): Promise<Scene> => {
    const started = await start(on)
    const window = await until('the window of the browser', async () =>
      (await windowsOf(client, started.pid)).find(
        ({ kind, title }) => kind === 'normal' && title.includes(started.title),
      ),
    )
    const target = { pid: window.pid, window_id: window.window_id }
    // Firefox tells of elements before it has placed them.
    await until('the elements of the page in their places', async () =>
      (await elementsOf(client, target)).some(({ label, frame }) => label === 'Press me' && frame.w > 0),
    )
    const button = await middleOf(client, target, 'Press me')
    // The canvas, which no toolkit has to name, lies below the button.
    const place = { x: button.x + 100, y: button.y + 180 }
    const path = [place, { x: place.x + 60, y: place.y + 10 }] as const
    const { journal } = started
    return {
      target,
      journal,
      place,
      path,
      field: 'Name',
      button: 'Press me',
      scrolls: 'Notes',
      needsReturn: false,
      opensMenu: true,
      witness: web,
      [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
    }
  }

/** Every toolkit of the matrix. */
export const toolkits: Readonly<Record<string, (on: TestDesktop, client: McpClient) => Promise<Scene>>> = {
  'GTK 3': widgets((on) => startGtk3(on, 'controls', { geometry: '420x480+110+110' }), gdk),
  'GTK 4': widgets((on) => startGtk4(on), gdk, false),
  'Qt 5': widgets((on) => startQt(on, 5), qt),
  'Qt 6': widgets((on) => startQt(on, 6), qt),
  Chromium: browser((on) => startChromium(on)),
  Firefox: browser((on) => startFirefox(on)),
  async xterm(on) {
    const { pid, windowId, journal } = await startXterm(on, { mouse: true })
    const place = { x: 120, y: 60 }
    return {
      ...none,
      target: { pid, window_id: windowId },
      journal,
      place,
      path: [place, { x: 220, y: 90 }],
      field: null,
      button: null,
      scrolls: null,
      needsReturn: false,
      opensMenu: false,
      witness: terminal,
    }
  },
  async 'LibreOffice Calc'(on) {
    const { pid, windowId, journal } = await startCalc(on)
    const place = { x: 300, y: 300 }
    return {
      ...none,
      target: { pid, window_id: windowId },
      journal,
      place,
      path: [place, { x: 500, y: 340 }],
      field: null,
      button: null,
      scrolls: 'Sheet Sheet1',
      needsReturn: true,
      opensMenu: true,
      witness: calc,
    }
  },
}
