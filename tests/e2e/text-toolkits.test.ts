import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3, startGtk4, startQt } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, middleOf, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { until } from '../support/until.ts'
import { asPerson } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

const line = 'Grüße, WORLD! 世界 😀 é Ж €'

interface Acted {
  readonly effect: string
  readonly route: string
  readonly evidence: readonly { readonly kind: string; readonly detail: string }[]
}

/** The value that the application itself saw last. */
const journalled = (app: Application, widget: string, value: unknown, since: number) =>
  app.journal.waitFor(
    `${JSON.stringify(value)} in ${widget}`,
    (entry) => entry.type === 'changed' && entry.widget === widget && entry.value === value,
    since,
  )

/** Runs work on an application that a person's window lies beside, and ends both. */
const beside = async (
  app: Application,
  work: (target: { pid: number; window_id: number }, person: Person) => Promise<void>,
): Promise<void> => {
  const person = await seatPerson(on(), '330x430+5+340')
  await asPerson.move(on(), app.windowId, 500, 60)
  await until('the window beside', async () => (await windowsOf(client, app.pid)).some(({ bounds }) => bounds.x >= 400))
  try {
    await work({ pid: app.pid, window_id: app.windowId }, person)
  } finally {
    process.kill(app.pid)
    process.kill(person.window.pid)
  }
}

const toolkits = {
  'GTK 3': () => startGtk3(on(), 'controls', { geometry: '420x480+500+60' }),
  'GTK 4': () => startGtk4(on()),
  'Qt 5': () => startQt(on().with({ QT_LINUX_ACCESSIBILITY_ALWAYS_ON: '1' }), 5, { geometry: '420x600+500+60' }),
  'Qt 6': () => startQt(on().with({ QT_LINUX_ACCESSIBILITY_ALWAYS_ON: '1' }), 6, { geometry: '420x600+500+60' }),
}

for (const [toolkit, start] of Object.entries(toolkits)) {
  test(`text is inserted exactly and read back in ${toolkit}, twice`, async () => {
    const app = await start()
    await beside(app, async (target, person) => {
      const { element_index } = await until('the field', () => element(client, target, 'Name').catch(() => undefined))
      await person.undisturbed(async () => {
        for (const value of [line, line + line]) {
          const mark = app.journal.mark()
          const acted = await client.ask<Acted>('type_text', { ...target, element_index, text: line })
          await journalled(app, 'Name', value, mark)
          expect(acted).toMatchObject({ effect: 'confirmed', route: 'editable_text' })
        }
      })
    })
  })
}

for (const [toolkit, start] of Object.entries(toolkits)) {
  test(`text for no element is inserted where the focus within a covered window of ${toolkit} is known`, async () => {
    const app = await start()
    const field = await until('the field', () =>
      element(client, { pid: app.pid, window_id: app.windowId }, 'Name').catch(() => undefined),
    )
    // The person writes into it, and goes on elsewhere.
    const { x, y, w, h } = field.frame
    const middle = [`${Math.floor(x + w / 2)}`, `${Math.floor(y + h / 2)}`]
    await on().run(['xdotool', 'mousemove', ...middle, 'click', '1'])
    await until('the focus of the field', async () =>
      (await element(client, { pid: app.pid, window_id: app.windowId }, 'Name')).states.includes('focused'),
    )
    // The pointer goes to where it rests in the person's own window.
    await on().run(['xdotool', 'mousemove', '--sync', '305', '740'])
    await beside(app, async (target, person) => {
      const insert = async (text: string, value: string) => {
        const mark = app.journal.mark()
        const acted = await client.ask<Acted>('type_text', { ...target, text })
        await journalled(app, 'Name', value, mark)
        expect(acted).toMatchObject({ effect: 'confirmed', route: 'editable_text' })
      }
      await person.undisturbed(async () => {
        await insert('one ', 'one ')
        await insert('two ', 'one two ')
        // Where a key leads to, the toolkit does not tell; it is typed there.
        await client.ask('press_key', { ...target, key: 'tab' })
        const { route } = await client.ask<Acted>('type_text', { ...target, text: 'x' })
        const { value } = await element(client, target, 'Name')
        expect([toolkit, route, value]).toEqual([toolkit, expect.any(String), 'one two '])
        // A click of the agent's gives the field the focus.
        await client.ask('click', { ...target, ...(await middleOf(client, target, 'Name')) })
        const acted = await client.ask<Acted>('type_text', { ...target, text: 'three' })
        expect(acted).toMatchObject({ effect: 'confirmed', route: 'editable_text' })
        expect((await element(client, target, 'Name')).value).toContain('three')
      })
    })
  })
}
