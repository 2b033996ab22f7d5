import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import type { Entry } from '../support/journal.ts'
import { middleOf, type Target } from '../support/look.ts'
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
  // A part of the application's window can be seen.
  await person.moveTo(400, 40)
}, 60_000)

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
}, 30_000)

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
  60_000,
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
  60_000,
)
