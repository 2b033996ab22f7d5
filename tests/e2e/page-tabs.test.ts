import { afterAll, beforeAll, expect, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { freePort } from '../support/web-fixture.ts'

const on = privateDesktop()
let client: McpClient
const page = (title: string, body: string) => `data:text/html,<title>${title}</title><body>${body}`

beforeAll(async () => {
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

/** Starts a program with Chromium inside by the tool itself, with a debugging port. */
const launch = async (...words: string[]): Promise<number> => {
  const root = process.getuid?.() === 0 ? ['--no-sandbox', '--test-type'] : []
  const launched = await client.ask<{ pid: number }>('launch_app', {
    name: 'chromium',
    electron_debugging_port: freePort(),
    creates_new_application_instance: true,
    additional_arguments: [...root, '--disable-gpu', '--password-store=basic', '--disable-popup-blocking', ...words],
  })
  return launched.pid
}

const script = (target: Facts, javascript: string) =>
  client.call('page', { ...target, action: 'execute_javascript', javascript })

test(
  'a program with Chromium inside is reached through the port that launch_app opened',
  proving(['driver.page.embedded-chromium'], async () => {
    const pid = await launch(`--app=${page('Inside', 'first')}`)
    const done = await until('the page', async () => {
      const answer = await script({ pid }, 'document.body.innerText')
      return !answer.isError && answer.structured
    })
    expect(done).toMatchObject({ pid, result: 'first', route: 'cdp' })
  }),
)

test('of several tabs and windows the one that the window shows is meant', async () => {
  const pid = await launch('--no-first-run', page('Twin', 'front'))
  const [first] = await until('the window', async () => {
    const found = (await windowsOf(client, pid)).filter(({ title }) => title.startsWith('Twin'))
    return found.length === 1 && found
  })
  const shown = { pid, window_id: first?.window_id }
  expect((await script(shown, 'document.body.innerText')).structured.result).toBe('front')
  const { structured } = await script(
    shown,
    `open(${JSON.stringify('about:blank')}, '', 'width=400,height=300').document.write('<title>Twin</title><body>second'); 0`,
  )
  expect(structured.code).toBeUndefined()
  const windows = await until('both windows', async () => {
    const found = (await windowsOf(client, pid)).filter(({ title }) => title.startsWith('Twin'))
    return found.length === 2 && found
  })
  const texts = await Promise.all(
    windows.map(
      async ({ window_id }) => (await script({ pid, window_id }, 'document.body.innerText')).structured.result,
    ),
  )
  expect(texts.toSorted()).toEqual(['front', 'second'])
})

test('pages that cannot be told apart are refused with their list', async () => {
  const pid = await launch('--no-first-run', page('Same', 'a'))
  const [one] = await until('the window', async () => {
    const found = (await windowsOf(client, pid)).filter(({ title }) => title.startsWith('Same'))
    return found.length > 0 && found
  })
  const place = 'popup,left=200,top=150,width=500,height=400'
  for (const _ of [1, 2]) {
    await script(
      { pid, window_id: one?.window_id },
      `open('about:blank', '_blank', '${place}').document.write('<title>Other</title>'); 0`,
    )
  }
  const others = await until('the others', async () => {
    const found = (await windowsOf(client, pid)).filter(({ title }) => title.startsWith('Other'))
    return found.length === 2 && found
  })
  const [window_id] = others.map((each) => each.window_id)
  const { x, y, width, height } = others[0]?.bounds ?? { x: 0, y: 0, width: 0, height: 0 }
  for (const other of others) {
    await client.ask('set_window_frame', { pid, window_id: other.window_id, x, y, width, height })
  }
  const refused = await until('both at one place', async () => {
    const answer = await script({ pid, window_id }, '1')
    return answer.isError && answer.structured
  })
  expect(refused.code).toBe('page_ambiguous')
  expect(refused.pages).toHaveLength(2)
})
