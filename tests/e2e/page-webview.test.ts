import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startWebView } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { seatPerson } from '../support/person.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
let view: Application
let target: Target

beforeAll(async () => {
  client = await connect(on())
  view = await startWebView(on())
  target = { pid: view.pid, window_id: view.windowId }
  await until('the page on the accessibility bus', async () => {
    const { structured } = await client.call('page', { ...target, action: 'query_dom', css_selector: '#go' })
    return structured.count === 1
  })
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

test(
  'a page that another process draws is read in the window that shows it',
  proving(['driver.page.web-views'], async () => {
    const { text, route } = await client.ask<Facts>('page', { ...target, action: 'get_text' })
    expect(route).toBe('accessibility')
    expect(text).toContain('A page in a window')
  }),
)

test('its elements are clicked where they are, behind the window of a person, and what follows is seen', async () => {
  const person = await seatPerson(on())
  await person.undisturbed(async () => {
    const mark = view.journal.mark()
    const clicked = await client.ask<Facts>('page', { ...target, action: 'click_element', selector: '#go' })
    expect(clicked).toMatchObject({ matches: 1, route: 'agent_pointer' })
    const event = await view.journal.waitFor('the click', ({ type }) => type === 'click', mark)
    expect(event).toMatchObject({ target: 'go', isTrusted: true })
    await until('the answer of the page', async () => {
      const { text } = await client.ask<{ text: string }>('page', { ...target, action: 'get_text' })
      return text.includes('Gone')
    })
    const { element_index } = await element(client, target, 'Name')
    await client.ask('type_text', { ...target, element_index, text: 'Zoë' })
    await view.journal.waitFor('the text', ({ type, value }) => type === 'input' && value === 'Zoë', mark)
  })
})
