import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import type { Entry } from '../support/journal.ts'
import { element, middleOf, type Target } from '../support/look.ts'
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

const presses = (since: number) => app.journal.entries(since).filter(({ type }) => type === 'key-press')

/** Gives an element the focus inside its window. */
const focus = async (label: string) => client.ask('click', { ...target, ...(await middleOf(client, target, label)) })

test(
  'a combination is pressed in a window behind, in both forms',
  proving(['driver.hotkey.call', 'driver.hotkey.not-frontmost'], async () => {
    await focus('Name')
    await person.undisturbed(async () => {
      const mark = app.journal.mark()
      const [mcp, shell] = await inBothForms(on(), client, 'hotkey', { ...target, keys: ['ctrl', 'shift', 'u'] })
      const isMeant = ({ key, modifiers }: Entry) =>
        String(key).toLowerCase() === 'u' && String(modifiers) === 'shift,ctrl'
      await until('both presses', () => presses(mark).filter(isMeant).length === 2)
      for (const each of [mcp, shell]) expect(each).toMatchObject({ key: 'u', modifiers: ['ctrl', 'shift'] })
    })
    await client.ask('press_key', { ...target, key: 'escape' })
  }),
)

test(
  'pid and keys are required, modifiers come first and one other key last',
  proving(['driver.hotkey.pid-required', 'driver.hotkey.keys-required', 'driver.hotkey.order'], async () => {
    const mark = app.journal.mark()
    const code = async (args: Record<string, unknown>) => (await client.call('hotkey', args)).structured.code
    expect(await code({ keys: ['ctrl', 'a'] })).toBe('missing_argument')
    expect(await code({ pid: app.pid })).toBe('missing_argument')
    for (const keys of [['a', 'ctrl'], ['ctrl'], ['a', 'b'], ['ctrl', 'a', 'b']]) {
      expect([keys, await code({ ...target, keys })]).toEqual([keys, 'invalid_argument'])
    }
    expect(await code({ ...target, keys: ['hyper', 'a'] })).toBe('unknown_modifier')
    expect(await code({ ...target, keys: ['fn', 'a'] })).toBe('unsupported_key')
    expect(app.journal.entries(mark)).toEqual([])
  }),
)

test(
  'every name of a modifier holds it',
  proving(['driver.hotkey.modifiers'], async () => {
    const names = {
      cmd: 'cmd',
      command: 'cmd',
      shift: 'shift',
      option: 'alt',
      alt: 'alt',
      ctrl: 'ctrl',
      control: 'ctrl',
    }
    for (const [name, held] of Object.entries(names)) {
      const mark = app.journal.mark()
      await client.ask('hotkey', { ...target, keys: [name, 'f7'] })
      const seen = await app.journal.waitFor('the key', ({ type, key }) => type === 'key-press' && key === 'F7', mark)
      expect([name, seen.modifiers]).toEqual([name, [held]])
    }
  }),
)

test(
  'scrolling presses keys in what has the focus, by lines and by pages, in both forms',
  proving(['driver.scroll.call', 'driver.scroll.line', 'driver.scroll.page', 'driver.scroll.window-id'], async () => {
    await focus('Notes')
    await person.undisturbed(async () => {
      const keys: readonly (readonly [Record<string, unknown>, string])[] = [
        [{ direction: 'down' }, 'Down'],
        [{ direction: 'up', by: 'line' }, 'Up'],
        [{ direction: 'down', by: 'page' }, 'Page_Down'],
        [{ direction: 'up', by: 'page' }, 'Page_Up'],
      ]
      for (const [args, key] of keys) {
        const mark = app.journal.mark()
        await client.ask('scroll', { pid: app.pid, ...args, amount: 2 })
        await until(`${key} twice`, () => presses(mark).filter((entry) => entry.key === key).length === 2)
        expect(presses(mark).every((entry) => entry.key === key)).toBe(true)
      }
      const mark = app.journal.mark()
      await inBothForms(on(), client, 'scroll', { ...target, direction: 'down', amount: 1 })
      await until('both keys', () => presses(mark).length === 2)
    })
  }),
)

test(
  'scrolling presses arrows sideways, three times unless told otherwise',
  proving(['driver.scroll.horizontal', 'driver.scroll.amount', 'driver.limits.scroll-amount'], async () => {
    for (const [direction, by, key] of [
      ['left', 'line', 'Left'],
      ['right', 'page', 'Right'],
    ]) {
      const mark = app.journal.mark()
      await client.ask('scroll', { ...target, direction, by })
      await until('three keys', () => presses(mark).length === 3)
      expect(presses(mark).map((entry) => entry.key)).toEqual([key, key, key])
    }
  }),
)

test(
  'an element is focused before it is scrolled; pid and direction are required',
  proving(['driver.scroll.element', 'driver.scroll.required'], async () => {
    await focus('Name')
    const { element_index } = await element(client, target, 'Notes')
    const mark = app.journal.mark()
    await client.ask('scroll', { ...target, element_index, direction: 'down', amount: 1 })
    await app.journal.waitFor('the key', ({ type, key }) => type === 'key-press' && key === 'Down', mark)
    await client.ask('press_key', { ...target, key: 'x' })
    const typed = await app.journal.waitFor('what has the focus', ({ type }) => type === 'changed', mark)
    expect(typed.widget).toBe('Notes')
    for (const args of [{ direction: 'down' }, { pid: app.pid }]) {
      expect((await client.call('scroll', args)).structured.code).toBe('missing_argument')
    }
  }),
)

test('the wheel is turned over a point or an element', async () => {
  const wheel = { ...target, mode: 'wheel', direction: 'down', amount: 2 }
  const point = await middleOf(client, target, 'Notes')
  const { element_index } = await element(client, target, 'Notes')
  await person.undisturbed(async () => {
    for (const where of [point, { element_index }]) {
      const mark = app.journal.mark()
      expect(await client.ask('scroll', { ...wheel, ...where })).toMatchObject({ route: 'agent_pointer', ...point })
      const turns = () => app.journal.entries(mark).filter(({ type }) => type === 'scroll')
      await until('both detents', () => turns().length === 2)
      expect(turns().map(({ direction, widget }) => [direction, widget])).toEqual([
        ['down', 'Notes'],
        ['down', 'Notes'],
      ])
    }
  })
  const code = async (args: Record<string, unknown>) => (await client.call('scroll', args)).structured.code
  expect(await code(wheel)).toBe('target_required')
  expect(await code({ ...wheel, ...point, element_index })).toBe('target_ambiguous')
  expect(await code({ ...wheel, ...point, by: 'page' })).toBe('invalid_argument')
  expect(await code({ ...target, direction: 'down', ...point })).toBe('invalid_argument')
})
