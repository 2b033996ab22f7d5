import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startXterm, typedInto } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { lookForEffects } from '../support/driver.ts'
import { type Target, windowsOf } from '../support/look.ts'
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
  app = await startXterm(on())
  target = { pid: app.pid, window_id: app.windowId }
  // A part of the terminal stays visible, as keys need a place for the agent's pointer.
  person = await seatPerson(on(), '700x600+200+100')
  client = await connect(on())
  // What arrives says the terminal; its program draws nothing that an action could wait to see.
  await lookForEffects(on(), 0)
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

/** Does something and settles with the bytes that the terminal's program has read since, once they are these. */
const reads = async (bytes: string, work: () => Promise<unknown>): Promise<void> => {
  const mark = app.journal.mark()
  await person.undisturbed(async () => {
    await work()
    const wanted = Buffer.from(bytes)
    const read = await until(`${JSON.stringify(bytes)} in the terminal`, () => {
      const given = typedInto(app, mark)
      return given.length >= wanted.length && given
    }).catch(() => typedInto(app, mark))
    expect(read.toString()).toBe(bytes)
  })
}

test('the terminal is found, and says that it has no elements', async () => {
  expect(await windowsOf(client, app.pid)).toMatchObject([{ ...target, title: app.title, kind: 'normal' }])
  const state = await client.ask<{ element_count: number; accessibility: string }>('get_window_state', {
    ...target,
  })
  expect(state.element_count).toBe(0)
  expect(state.accessibility).toContain('accessibility')
})

test(
  'text is typed as characters where there is no element to insert it into',
  proving(['driver.type-text.fallback'], async () => {
    await reads('echo "Hello, World!" | wc -c; ~/{a,b}\\@#$%^&*()_+', () =>
      client.ask('type_text', { ...target, text: 'echo "Hello, World!" | wc -c; ~/{a,b}\\@#$%^&*()_+', delay_ms: 0 }),
    )
  }),
)

test('text beyond the keyboard is typed', async () => {
  await reads('Grüße, 世界 — é', () => client.ask('type_text', { ...target, text: 'Grüße, 世界 — é' }))
})

test(
  'keys with names and modifiers arrive',
  proving(['driver.press-key.names.editing', 'driver.press-key.names.movement', 'driver.press-key.plain'], async () => {
    const keys: [string, string, string[]?][] = [
      ['return', '\r'],
      ['tab', '\t'],
      ['escape', '\x1b'],
      ['space', ' '],
      ['delete', '\x1b[3~'],
      ['up', '\x1b[A'],
      ['down', '\x1b[B'],
      ['right', '\x1b[C'],
      ['left', '\x1b[D'],
      ['home', '\x1b[H'],
      ['end', '\x1b[F'],
      ['pageup', '\x1b[5~'],
      ['pagedown', '\x1b[6~'],
      ['c', '\x03', ['ctrl']],
      ['tab', '\x1b[Z', ['shift']],
      ['x', 'X', ['shift']],
    ]
    for (const [key, bytes, modifiers = []] of keys) {
      await reads(bytes, () => client.ask('press_key', { pid: app.pid, key, modifiers }))
    }
  }),
)

test(
  'every letter, digit and function key is a key',
  proving(['driver.press-key.names.characters', 'driver.press-key.names.function'], async () => {
    const plain = [...'abcdefghijklmnopqrstuvwxyz0123456789']
    const ss3 = ['\x1bOP', '\x1bOQ', '\x1bOR', '\x1bOS']
    const csi = [15, 17, 18, 19, 20, 21, 23, 24].map((number) => `\x1b[${number}~`)
    await reads(plain.join(''), async () => {
      for (const key of plain) await client.ask('press_key', { ...target, key })
    })
    await reads([...ss3, ...csi].join(''), async () => {
      for (let number = 1; number <= 12; number += 1) await client.ask('press_key', { ...target, key: `f${number}` })
    })
  }),
)
