/** A real task of many calls on a web page that is covered, while a person types in the window in front. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Browser, startChromium } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Manner, meanwhile, perform, type Step } from '../support/task.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
beforeAll(async () => {
  client = await connect(on())
})
afterAll(() => client?.[Symbol.asyncDispose]())

interface Listed {
  readonly label: string
  readonly element_token: string
}

const items = ['Tea', 'Coffee', 'Sugar', 'Milk', 'Bread', 'Öl', 'Café crème', 'ΑΒΓ'].map(
  (name, at) => [name, String(at + 1), `${at}.50`] as const,
)

/** Fills every field of the order, by the tokens of one look at the page. */
const orderSteps = (target: Target, elements: readonly Listed[]): Step[] => {
  const token = (label: string): string => {
    const found = elements.find((each) => each.label === label)
    if (found === undefined) throw new Error(`no "${label}" among ${elements.map((each) => each.label).join(', ')}`)
    return found.element_token
  }
  const type = (label: string, text: string): Step => ({
    tool: 'type_text',
    arguments: { ...target, element_token: token(label), text },
  })
  const press = (label: string): Step => ({ tool: 'click', arguments: { ...target, element_token: token(label) } })
  return [
    type('Customer', 'Ada Lovelace'),
    type('Street', 'St James’s Square 12'),
    type('City', 'LONDON'),
    ...items.flatMap(([name, count, price], at) => [
      type(`Item ${at + 1}`, name),
      type(`Count ${at + 1}`, count),
      type(`Price ${at + 1}`, price),
    ]),
    { tool: 'set_value', arguments: { ...target, element_token: token('Shipping'), value: 'courier' } },
    press('Gift wrap'),
    press('Newsletter'),
    press('Newsletter'),
    press('Newsletter'),
    press('Card'),
    press('Invoice'),
    type('Remarks', 'Please ring twice.'),
    { tool: 'get_window_state', arguments: { ...target, capture_mode: 'ax', query: 'Place order' } },
    { tool: 'list_windows', arguments: { pid: target.pid } },
    { tool: 'get_cursor_position', arguments: {} },
    { tool: 'get_screen_size', arguments: {} },
    press('Place order'),
  ]
}

let browser: Browser
let target: Target

const look = async () =>
  (await client.ask<{ elements: Listed[] }>('get_window_state', { ...target, capture_mode: 'ax' })).elements

beforeAll(async () => {
  browser = await startChromium(on(), { page: 'order.html' })
  const window = await until('the window of the browser', async () =>
    (await windowsOf(client, browser.pid)).find(
      ({ kind, title }) => kind === 'normal' && title.includes(browser.title),
    ),
  )
  target = { pid: window.pid, window_id: window.window_id }
  await until('the elements of the page', async () => (await look()).some(({ label }) => label === 'Place order'))
})

afterAll(() => browser?.[Symbol.asyncDispose]())

// The page's fields are empty again once an order was placed.
for (const manner of ['calls', 'run_steps'] satisfies Manner[]) {
  test(`an order is placed on a web page in the background, by ${manner}`, async () => {
    const mark = browser.journal.mark()
    await meanwhile(on(), async () => {
      const steps = orderSteps(target, await look())
      expect(steps.length).toBeGreaterThanOrEqual(40)
      await perform(client, steps, manner)
      await browser.journal.waitFor('the order', ({ type }) => type === 'order', mark)
    })
    expect(browser.journal.entries(mark).filter(({ type }) => type === 'order')).toEqual([
      {
        type: 'order',
        isTrusted: true,
        customer: ['Ada Lovelace', 'St James’s Square 12', 'LONDON'],
        items: items.map((item) => [...item]),
        shipping: 'Courier',
        gift: true,
        news: true,
        pay: 'invoice',
        remarks: 'Please ring twice.',
      },
    ])
  }, 300_000)
}
