/** Lists that show their options only while they are open are chosen from in one call, in a covered window. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, type Browser, startChromium, startGtk4Choices } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { elementsOf, middleOf, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { asPerson } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let choices: Application
let target: Target
let page: Browser
let person: Person

/** Lists in a page, one of them always open. */
const content = (html: string): string => {
  const options = ['Red', 'Green', 'Blue'].map((colour) => `<option>${colour}</option>`).join('')
  const lists = `<label>Colour <select id="colour" size="3">${options}</select></label>
    <label>Paint <input id="paint" list="paints"><datalist id="paints">${options}</datalist></label>`
  return html.replace('<canvas', `${lists}<canvas`)
}

beforeAll(async () => {
  client = await connect(on())
  choices = await startGtk4Choices(on())
  target = { pid: choices.pid, window_id: choices.windowId }
  page = await startChromium(on(), { content })
  // Where a list opens it may not lie under the person's pointer, which would be in it then.
  await asPerson.move(on(), choices.windowId, 640, 60)
  person = await seatPerson(on(), '1240x740+10+10')
}, 60_000)
afterAll(async () => {
  await page?.[Symbol.asyncDispose]()
  await client?.[Symbol.asyncDispose]()
})

const box = async (label: string) => {
  const found = (await elementsOf(client, target)).find((each) => each.role === 'combo box' && each.label === label)
  if (found === undefined) throw new Error(`there is no combo box "${label}"`)
  return found
}

const set = async (label: string, value: string) =>
  client.call('set_value', { ...target, element_index: (await box(label)).element_index, value })

const popups = async () => (await windowsOf(client, target.pid)).filter(({ kind }) => kind === 'popup')

const chosen = (label: string, since: number): unknown =>
  choices.journal.entries(since).findLast(({ type, widget }) => type === 'changed' && widget === label)?.value

for (const [label, value, option] of [
  ['Fruit', 'quince', 'Quince'],
  ['Fruit', 'Apple', 'Apple'],
  ['Number', 'Number 48', 'Number 48'],
  ['Search', 'Pear', 'Pear'],
  ['Free', 'Quince', 'Quince'],
] as const) {
  test(
    `"${option}" is chosen in the covered box "${label}" of GTK 4`,
    proving(['driver.set-value.option'], async () => {
      const mark = choices.journal.mark()
      await person.undisturbed(async () => {
        const { structured, text } = await set(label, value)
        expect({ text, ...structured }).toMatchObject({ effect: 'confirmed', value: option })
        expect(chosen(label, mark)).toBe(option)
        expect(await popups()).toEqual([])
        expect((await set(label, value)).structured).toMatchObject({ route: 'none', effect: 'confirmed' })
      })
    }),
  )
}

test('what is no option is refused by naming those that are, and the list is closed', async () => {
  const mark = choices.journal.mark()
  await person.undisturbed(async () => {
    const { structured, text } = await set('Fruit', 'banana')
    expect(structured).toMatchObject({ code: 'value_not_accepted' })
    expect(text).toContain('"Apple", "Pear", "Quince"')
    expect(await popups()).toEqual([])
  })
  expect(chosen('Fruit', mark)).toBeUndefined()
})

test('a list whose options have no names is refused with the way out, which works', async () => {
  const mark = choices.journal.mark()
  await person.undisturbed(async () => {
    const { structured, text } = await set('Crop', 'Pear')
    expect(structured).toMatchObject({ code: 'value_not_supported' })
    expect(text).toContain('press down or up and return')
    expect(await popups()).toEqual([])
    expect(chosen('Crop', mark)).toBeUndefined()
    await client.ask('click', { ...target, ...(await middleOf(client, target, 'Crop')) })
    for (const key of ['down', 'return']) await client.ask('press_key', { ...target, key })
  })
  expect(chosen('Crop', mark)).toBe('Pear')
})

test('lists that Chromium shows inside its window are chosen from in the covered page', async () => {
  const window = await until('its window', async () =>
    (await windowsOf(client, page.pid)).find(({ title }) => title.startsWith(page.title)),
  )
  const shown = { pid: window.pid, window_id: window.window_id }
  const find = (label: string) =>
    until(label, async () => (await elementsOf(client, shown)).find((each) => each.label === label))
  await person.undisturbed(
    async () => {
      for (const [label, value, says] of [
        ['Fruit', 'Quince', { type: 'change', target: 'fruit', value: 'Quince' }],
        ['Colour', 'green', { type: 'change', target: 'colour', value: 'Green' }],
        ['Paint', 'Blue', { type: 'change', target: 'paint', value: 'Blue' }],
      ] as const) {
        const mark = page.journal.mark()
        const { element_index } = await find(label)
        const { structured, text } = await client.call('set_value', { ...shown, element_index, value })
        expect({ text, ...structured }).toMatchObject({ effect: 'confirmed' })
        const said = Object.entries(says)
        await page.journal.waitFor(text, (entry) => said.every(([key, expected]) => entry[key] === expected), mark)
        expect((await windowsOf(client, page.pid)).filter(({ kind }) => kind === 'popup')).toEqual([])
      }
    },
    // A press in Chromium grabs every pointer for that moment, which crosses the window under the person's.
    ['enter-notify', 'leave-notify'],
  )
})
