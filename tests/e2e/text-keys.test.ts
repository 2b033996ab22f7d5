import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Application, endApplication, python, startQt } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { seatPerson } from '../support/person.ts'
import { until } from '../support/until.ts'
import { asPerson, displayState } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

const line = 'Grüße, WORLD! 世界 😀 é Ж €'

const changedTo = (app: Application, widget: string, value: string, since: number) =>
  app.journal.waitFor(
    `"${value}" in ${widget}`,
    (entry) => entry.type === 'changed' && entry.widget === widget && entry.value === value,
    since,
  )

for (const major of [5, 6] as const) {
  test(`keys of Qt ${major} arrive exactly in a covered window, on every layout`, async () => {
    // As launch_app starts it; without it Qt 6 joins the accessibility bus only sometimes.
    const accessible = on().with({ QT_LINUX_ACCESSIBILITY_ALWAYS_ON: '1' })
    const app = await startQt(accessible, major, { geometry: '420x600+100+100' })
    const target = { pid: app.pid, window_id: app.windowId }
    const { element_index } = await until('the field', () => element(client, target, 'Name').catch(() => undefined))
    const person = await seatPerson(on())
    for (const layout of ['us', 'de', 'fr', 'ru']) {
      await on().run(['setxkbmap', layout])
      const mark = app.journal.mark()
      await person.undisturbed(async () => {
        await client.ask('press_key', { ...target, element_index, key: 'a', modifiers: ['ctrl'] })
        await client.ask('press_key', { ...target, key: 'delete' })
        await client.ask('type_text', { ...target, text: line, delay_ms: 0 })
        await changedTo(app, 'Name', line, mark)
      })
    }
    await on().run(['setxkbmap', 'us'])
    await endApplication(on(), person.window)
    await endApplication(on(), app)
  })
}

test('keys that would reach the window in which the person works are refused', async () => {
  const program = join(import.meta.dir, '../../crates/input/tests/fixtures/keys_qt.py')
  const { pid } = on().start([python, program, '5', 'shared', '50', '60', '300', '200', 'two'])
  const named = async (title: string) => (await windowsOf(client, pid)).find((window) => window.title === title)
  const first = await until('the first window', () => named('shared'))
  const second = await until('the second window', () => named('shared two'))
  // In turn, for the window manager gives a new window the focus a moment after it lists it.
  for (const { window_id, title } of [first, second]) {
    await until(`the person to work in "${title}"`, async () => {
      await asPerson.activate(on(), window_id)
      return (await displayState(on())).active_window === window_id
    })
  }
  const target = { pid, window_id: first.window_id }
  for (const [tool, args] of [
    ['press_key', { key: 'a' }],
    ['type_text', { text: 'a' }],
  ] as const) {
    const { structured } = await client.call(tool, { ...target, ...args })
    expect(structured).toMatchObject({ code: 'application_in_use' })
  }
  process.kill(pid)
})
