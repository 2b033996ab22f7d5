/** A task in four toolkits: an article is read, what lies below it is filled in, and an option is chosen in four kinds of combo box. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Browser, startChromium, startGtk3, startGtk4Choices, startQt } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import type { Journal } from '../support/journal.ts'
import { type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient, type Result } from '../support/mcp-client.ts'
import { seatPerson } from '../support/person.ts'
import { limitMs } from '../support/soak.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(limitMs(240_000))

const on = privateDesktop()
let client: McpClient
let browser: Browser
let page: Target
const boxes: { readonly toolkit: string; readonly target: Target; readonly journal: Journal }[] = []

/** An article whose last paragraph tells a word, a button at its end, and a form below it. */
const content = (html: string): string => {
  const paragraphs = Array.from({ length: 80 }, (_, n) => `<p>Paragraph ${n} of the article.</p>`).join('')
  const form = `<label>Word <input id="word"></label><label>Bird <select id="bird"><option>Owl</option><option>Heron</option></select></label>`
  const article = `<h2>Article</h2>${paragraphs}<p>The word is reed.</p><button type="button" id="agree">Agree</button>`
  const far = `<div style="height: 900px"></div>${form}<button type="button" id="send">Send it</button>`
  return html.replace('<script>', `${article}${far}<script>`)
}

beforeAll(async () => {
  client = await connect(on())
  browser = await startChromium(on(), { content })
  const window = await until('the window of the browser', async () =>
    (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
  )
  page = { pid: window.pid, window_id: window.window_id }
  for (const [toolkit, start] of [
    ['GTK 3', () => startGtk3(on(), 'controls')],
    ['GTK 4', () => startGtk4Choices(on())],
    ['Qt 6', () => startQt(on(), 6)],
  ] as const) {
    const { pid, windowId, journal } = await start()
    boxes.push({ toolkit, target: { pid, window_id: windowId }, journal })
  }
  await seatPerson(on(), '1240x740+10+10')
}, 120_000)

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await client?.[Symbol.asyncDispose]()
})

interface Listed {
  readonly role: string
  readonly label: string
  readonly element_token: string
}

/** The calls of one way to do the task, counted. */
class Turns {
  count = 0
  readonly #began = performance.now()

  async call(tool: string, target: Target, args: Readonly<Record<string, unknown>> = {}): Promise<Result> {
    this.count += 1
    const result = await client.call(tool, { ...target, ...args })
    if (result.isError) throw new Error(`${tool} ${JSON.stringify(args)}: ${result.text}`)
    return result
  }

  async look(target: Target, args: Readonly<Record<string, unknown>> = {}) {
    const { text, structured } = await this.call('get_window_state', target, { capture_mode: 'ax', ...args })
    return { text, elements: structured.elements as readonly Listed[] }
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1_000
  }
}

const tokenOf = (elements: readonly Listed[], label: string): string | undefined =>
  elements.find((each) => each.label === label)?.element_token

const needed = (elements: readonly Listed[], label: string): string => {
  const token = tokenOf(elements, label)
  if (token === undefined) throw new Error(`no "${label}" among ${elements.map((each) => each.label).join(', ')}`)
  return token
}

/** Reads and finds with what looks at the whole document. */
const byDocument = async (turns: Turns, bird: string): Promise<void> => {
  const read = await turns.call('page', page, { action: 'get_text' })
  const [, word = ''] = /The word is (\w+)/.exec(String(read.structured.text)) ?? []
  const { elements } = await turns.look(page, { include_offscreen: true })
  await turns.call('click', page, { element_token: needed(elements, 'Agree') })
  await turns.call('type_text', page, { element_token: needed(elements, 'Word'), text: word })
  await turns.call('set_value', page, { element_token: needed(elements, 'Bird'), value: bird })
  await turns.call('click', page, { element_token: needed(elements, 'Send it') })
}

test('an article is read, and the form below it sent, in six turns', async () => {
  const mark = browser.journal.mark()
  const turns = new Turns()
  await byDocument(turns, 'Heron')
  expect(turns.count).toBe(6)
  console.log(`article and form: ${turns.count} turns, ${turns.seconds.toFixed(1)} s`)
  for (const says of [
    { type: 'click', target: 'agree' },
    { type: 'input', target: 'word', value: 'reed' },
    { type: 'change', target: 'bird', value: 'Heron' },
    { type: 'click', target: 'send' },
  ]) {
    await browser.journal.waitFor(
      JSON.stringify(says),
      (entry) => Object.entries(says).every(([name, value]) => entry[name] === value),
      mark,
    )
  }
})

test('an option is chosen in the combo boxes of GTK 3, GTK 4 and Qt in two turns each', async () => {
  for (const { toolkit, target, journal } of boxes) {
    const turns = new Turns()
    const mark = journal.mark()
    const { elements } = await turns.look(target)
    const box = elements.find(({ role, label }) => role === 'combo box' && ['Fruit', 'Apple', ''].includes(label))
    await turns.call('set_value', target, { element_token: box?.element_token, value: 'Quince' })
    expect(turns.count).toBe(2)
    console.log(`combo box of ${toolkit}: 2 turns, ${turns.seconds.toFixed(1)} s`)
    await journal.waitFor(
      `the choice in ${toolkit}`,
      ({ type, value }) => type === 'changed' && value === 'Quince',
      mark,
    )
  }
})
