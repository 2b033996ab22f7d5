import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startBanner, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import { element, middleOf, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
let app: Application
let target: Target
let person: Person

beforeAll(async () => {
  app = await startGtk3(on(), 'controls', { geometry: '420x480+120+100' })
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
  person = await seatPerson(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

const indexOf = async (label: string) => (await element(client, target, label)).element_index

const many = (since: number, type: string) => app.journal.entries(since).filter((entry) => entry.type === type)

/** What an action that was confirmed answers. */
type Confirmed = { readonly evidence: readonly { readonly kind: string; readonly detail: string }[] }

const codeOf = async (tool: string, args: Record<string, unknown>) => (await client.call(tool, args)).structured.code

/** Closes what a right click opened. */
const closeMenus = async () => {
  for (const popup of (await windowsOf(client, app.pid)).filter(({ kind }) => kind === 'popup')) {
    await client.call('press_key', { pid: app.pid, window_id: popup.window_id, key: 'escape' })
  }
  await until('the menus to close', async () =>
    (await windowsOf(client, app.pid)).every(({ kind }) => kind !== 'popup'),
  )
}

// First, because what the others do without effect is waited for, and leaves in doubt whose effect a menu is.
test(
  'a right click on an element shows its menu',
  proving(['driver.right-click.element'], async () => {
    const popups = async () => (await windowsOf(client, app.pid)).filter(({ kind }) => kind === 'popup')
    expect(await popups()).toEqual([])
    const mark = app.journal.mark()
    const did = await client.ask<Confirmed>('right_click', { ...target, element_index: await indexOf('Notes') })
    await app.journal.waitFor(
      'the menu of the text',
      ({ type, widget }) => type === 'populate-popup' && widget === 'Notes',
      mark,
    )
    const [menu] = await until('the menu', async () => {
      const shown = await popups()
      return shown.length > 0 && shown
    })
    expect(did).toMatchObject({ effect: 'confirmed' })
    // A busy application may tell of its menu before the server shows it, which confirms the click, too.
    const proof = did.evidence.find(({ kind }) => ['window_opened', 'application_reacted'].includes(kind))
    if (proof?.kind !== 'application_reacted') expect(proof?.detail).toContain(`popup ${menu?.window_id} `)
    await closeMenus()
  }),
)

test(
  'a double click at a point of a covered window arrives as two pairs about 80 ms apart, in both forms',
  proving(
    ['driver.double-click.call', 'driver.double-click.pixel', 'driver.limits.double-click-interval'],
    async () => {
      const point = await middleOf(client, target, 'Notes')
      await person.undisturbed(async () => {
        const mark = app.journal.mark()
        await inBothForms(on(), client, 'double_click', { ...target, ...point })
        await until('both double clicks', () => many(mark, '2button-press').length === 2)
        const presses = many(mark, 'button-press').map(({ server_time_ms }) => Number(server_time_ms))
        expect(presses).toHaveLength(4)
        expect(many(mark, 'button-release')).toHaveLength(4)
        // A server that comes to a first press late shows a shorter pause than there was, hardly twice in a row.
        const pauses = [0, 2].map((first) => (presses[first + 1] ?? 0) - (presses[first] ?? 0))
        expect(Math.max(...pauses)).toBeGreaterThan(60)
      })
    },
  ),
)

test(
  'an element without an open action is double-clicked in its middle',
  proving(['driver.double-click.fallback'], async () => {
    const { element_index, frame } = await element(client, target, 'Name')
    const mark = app.journal.mark()
    const did = await client.ask('double_click', { ...target, element_index })
    expect(did).toMatchObject({ route: 'agent_pointer', element_index })
    const double = await app.journal.waitFor('the double click', ({ type }) => type === '2button-press', mark)
    expect(Math.abs(Number(double.x_root) - (frame.x + frame.w / 2))).toBeLessThanOrEqual(1)
    expect(Math.abs(Number(double.y_root) - (frame.y + frame.h / 2))).toBeLessThanOrEqual(1)
  }),
)

test(
  'an element that advertises an open action is opened through it',
  proving(['driver.double-click.open'], async () => {
    const banner = await startBanner(on(), 'open')
    const there = { pid: banner.pid, window_id: banner.windowId }
    const { element_index } = await element(client, there, 'Banner')
    const did = await client.ask('double_click', { ...there, element_index })
    await banner.journal.waitFor('the opening', ({ type, action }) => type === 'done' && action === 'open')
    // The element does nothing that anybody could see.
    expect(did).toMatchObject({ route: 'accessibility', effect: 'unverified' })
    await client.ask('kill_app', { pid: banner.pid })
  }),
)

test(
  'a right click at a point arrives, in both forms',
  proving(['driver.right-click.call', 'driver.right-click.pixel'], async () => {
    const point = await middleOf(client, target, 'Press me')
    await person.undisturbed(async () => {
      const mark = app.journal.mark()
      await inBothForms(on(), client, 'right_click', { ...target, ...point })
      await until('both presses', () => many(mark, 'button-press').filter(({ button }) => button === 3).length === 2)
    })
    expect(await codeOf('right_click', { ...target, x: 5 })).toBe('invalid_argument')
  }),
)

test(
  'a modifier makes a right click on an element one on its pixels',
  proving(['driver.right-click.modifier'], async () => {
    const mark = app.journal.mark()
    const args = { ...target, element_index: await indexOf('Press me'), modifier: ['shift'] }
    expect(await client.ask('right_click', args)).toMatchObject({ route: 'agent_pointer' })
    const press = await app.journal.waitFor('the press', ({ type }) => type === 'button-press', mark)
    expect(press).toMatchObject({ button: 3, modifiers: ['shift'], widget: 'Press me' })
  }),
)

test(
  'what a click needs is required, and nothing is sent without it',
  proving(
    [
      'driver.double-click.pid-required',
      'driver.right-click.pid-required',
      'driver.double-click.element-index-needs-window-id',
      'driver.right-click.exactly-one',
      'driver.errors.right-click-exactly-one',
    ],
    async () => {
      const mark = app.journal.mark()
      for (const tool of ['double_click', 'right_click']) {
        expect(await codeOf(tool, { window_id: app.windowId, x: 1, y: 1 })).toBe('missing_argument')
        expect(await codeOf(tool, { pid: app.pid, element_index: 1 })).toBe('missing_argument')
        expect(await codeOf(tool, { ...target, element_index: 1, x: 1, y: 1 })).toBe('target_ambiguous')
        expect(await codeOf(tool, { ...target })).toBe('target_required')
      }
      expect(app.journal.entries(mark)).toEqual([])
    },
  ),
)

test(
  'an element of a click names its window',
  proving(
    [
      'driver.errors.element-index-needs-window-id.double-click',
      'driver.errors.element-index-needs-window-id.right-click',
    ],
    async () => {
      for (const tool of ['double_click', 'right_click']) {
        const { structured, text } = await client.call(tool, { pid: app.pid, element_index: 1 })
        expect(structured.code).toBe('missing_argument')
        expect(text).toBe('window_id is required when element_index is used.')
      }
    },
  ),
)

test('the middle button is pressed', async () => {
  const mark = app.journal.mark()
  const did = await client.ask('click', {
    ...target,
    ...(await middleOf(client, target, 'Press me')),
    button: 'middle',
  })
  expect(did).toMatchObject({ button: 'middle', route: 'agent_pointer' })
  const press = await app.journal.waitFor('the press', ({ type }) => type === 'button-press', mark)
  expect(press.button).toBe(2)
  const element_index = await indexOf('Press me')
  expect(await codeOf('click', { ...target, element_index, action: 'press', button: 'middle' })).toBe(
    'invalid_argument',
  )
})

test(
  'a slider of a covered window is dragged by its handle, in both forms',
  proving(['driver.drag.call', 'driver.drag.pixels', 'driver.drag.button'], async () => {
    const from = await middleOf(client, target, 'Volume')
    const { frame } = await element(client, target, 'Volume')
    const left = from.x - frame.w / 2
    // The handle of a slider at 0 stands at its left end.
    const path = { from_x: left + 12, from_y: from.y + 6, to_x: left + frame.w - 12, to_y: from.y + 6 }
    await person.undisturbed(async () => {
      const mark = app.journal.mark()
      const did = await client.ask('drag', { ...target, ...path })
      await app.journal.waitFor(
        'the last value',
        ({ widget, value }) => widget === 'Volume' && Number(value) > 90,
        mark,
      )
      expect(did).toMatchObject({ button: 'left', effect: 'confirmed' })
      const [press] = many(mark, 'button-press')
      expect(press).toMatchObject({ button: 1, send_event: false })
      const back = { from_x: path.to_x, from_y: path.to_y, to_x: path.from_x, to_y: path.from_y }
      const { status } = await on().backlot(['drag', JSON.stringify({ ...target, ...back })])
      expect(status).toBe(0)
      await app.journal.waitFor(
        'the first value',
        ({ widget, value }) => widget === 'Volume' && Number(value) < 10,
        mark,
      )
    })
  }),
)

test(
  'a drag makes as many motions as asked, in the time that is asked, with what is held',
  proving(['driver.drag.steps', 'driver.drag.duration', 'driver.drag.modifier', 'driver.limits.drag'], async () => {
    const at = await middleOf(client, target, 'Notes')
    const path = { from_x: at.x - 60, from_y: at.y, to_x: at.x + 60, to_y: at.y + 12 }
    /** Seconds between press and release, and the motions between them. */
    const dragged = async (args: Record<string, unknown>) => {
      const mark = app.journal.mark()
      await client.ask('drag', { ...target, ...path, ...args })
      const release = await app.journal.waitFor('the release', ({ type }) => type === 'button-release', mark)
      const [press] = many(mark, 'button-press')
      const held = many(mark, 'motion-notify').filter(({ at }) => Number(at) >= Number(press?.at))
      return { seconds: Number(release.at) - Number(press?.at), motions: held, press, release }
    }
    const usual = await dragged({})
    expect(usual.seconds).toBeGreaterThan(0.4)
    expect(usual.motions.length).toBeGreaterThanOrEqual(10)
    expect(usual.motions.length).toBeLessThanOrEqual(24)
    const few = await dragged({ steps: 4, duration_ms: 900, modifier: ['ctrl'] })
    expect(few.seconds).toBeGreaterThan(0.8)
    expect(few.motions.length).toBeLessThanOrEqual(7)
    for (const entry of [few.press, few.release]) expect(entry?.modifiers).toEqual(['ctrl'])
    const line = few.motions.map(({ x_root }) => Number(x_root))
    expect(line).toEqual(line.toSorted((a, b) => a - b))
    const { stdout } = await on().backlot(['describe', 'drag'])
    const { properties } = JSON.parse(stdout).inputSchema
    expect([properties.duration_ms.default, properties.steps.default, properties.button.default]).toEqual([
      500,
      20,
      'left',
    ])
  }),
)

test(
  'a drag takes its points from the last zoom, and the frontmost window where none is named',
  proving(['driver.drag.from-zoom', 'driver.drag.window-id', 'driver.drag.required'], async () => {
    const at = await middleOf(client, target, 'Notes')
    const whole = { from_x: at.x - 40, from_y: at.y, to_x: at.x + 40, to_y: at.y, duration_ms: 100 }
    const plain = app.journal.mark()
    await client.ask('drag', { pid: app.pid, ...whole })
    const meant = await app.journal.waitFor('the press', ({ type }) => type === 'button-press', plain)
    const zoom = await client.ask<{ width: number; region: { x: number; width: number } }>('zoom', {
      ...target,
      x1: at.x - 100,
      y1: at.y - 20,
      x2: at.x + 100,
      y2: at.y + 20,
    })
    const { region } = zoom as unknown as { region: { x: number; y: number; width: number } }
    const factor = zoom.width / region.width
    const inZoom = (x: number, y: number) => [(x - region.x) * factor, (y - region.y) * factor]
    const [from_x, from_y] = inZoom(whole.from_x + 0.5, whole.from_y + 0.5)
    const [to_x, to_y] = inZoom(whole.to_x + 0.5, whole.to_y + 0.5)
    const mark = app.journal.mark()
    await client.ask('drag', { pid: app.pid, from_x, from_y, to_x, to_y, from_zoom: true, duration_ms: 100 })
    const press = await app.journal.waitFor('the press', ({ type }) => type === 'button-press', mark)
    expect(Math.abs(Number(press.x_root) - Number(meant.x_root))).toBeLessThanOrEqual(1)
    expect(Math.abs(Number(press.y_root) - Number(meant.y_root))).toBeLessThanOrEqual(1)
    for (const missing of ['pid', 'from_x', 'from_y', 'to_x', 'to_y']) {
      const { [missing]: _, ...rest } = { pid: app.pid, ...whole } as Record<string, unknown>
      expect([missing, await codeOf('drag', rest)]).toEqual([missing, 'missing_argument'])
    }
    expect(await codeOf('drag', { pid: app.pid, ...whole, to_x: 9_999 })).toBe('point_outside_window')
  }),
)
