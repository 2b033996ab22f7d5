import { afterAll, beforeAll, expect, test } from 'bun:test'
import { runBacklot } from '../support/backlot.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { type ConsolePage, consolePage } from '../support/console.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'

const minutes = 60_000

let host: VmHost
let browser: Browser
let page: ConsolePage

/** `backlot WORDS` with the home of the service. */
const backlot = (...words: string[]) => runBacklot(words, { BACKLOT_HOME: host.home })
const listed = async () =>
  JSON.parse((await backlot('sandbox', 'ls', '--local')).stdout) as { name: string; status: string }[]
const statusOf = async (name: string) => (await listed()).find((each) => each.name === name)?.status
const svc = (path: string, init: RequestInit = {}) => fetch(`${host.url}/svc${path}`, init)

beforeAll(async () => {
  host = await startVmHost()
  const create = ['sandbox', 'create', 'seen', '--runtime', 'local', '--network', 'none', '--ttl-ms', '3600000']
  const [made, opened] = await Promise.all([backlot(...create), openBrowser()])
  browser = opened
  page = consolePage(browser)
  expect({ status: made.status, errors: made.stderr }).toMatchObject({ status: 0 })
  await browser.goTo(`${host.url}/`)
}, 2 * minutes)

afterAll(async () => {
  await backlot('sandbox', 'rm', 'seen', '--local')
  await browser?.[Symbol.asyncDispose]()
  await host[Symbol.asyncDispose]()
}, minutes)

test(
  'a sandbox stands beside the VMs with its state, runtime, level and time to live, and its screen is live',
  async () => {
    const info = JSON.parse((await backlot('sandbox', 'info', 'seen', '--local')).stdout) as { isolation: string }
    await browser.until(`document.querySelector('nav section a')?.innerText.includes('seen')`)
    const row = await browser.evaluate<string>(`document.querySelector('nav section a').innerText`)
    expect(row).toMatch(new RegExp(`seen\\s+running\\s+local, ${info.isolation}, ends in (60|59) min`))
    await browser.evaluate(`document.querySelector('nav section a').click()`)
    await browser.until(`document.querySelector('.screen')?.dataset.state === 'shown'`)
    const facts = await page.facts()
    expect(facts).toMatchObject({ name: 'seen', Runtime: 'local', Isolation: info.isolation, System: 'linux' })
    expect(facts['Time to live']).toStartWith('ends in')
    // What is painted inside is seen here: the screen is live, not a picture of its beginning.
    const at = `(() => {
      const canvas = document.querySelector('.screen canvas')
      const { data } = canvas.getContext('2d').getImageData(canvas.width / 4, (canvas.height * 3) / 4, 1, 1)
      return [...data].slice(0, 3).join()
    })()`
    const before = await browser.evaluate<string>(at)
    const paint = 'setsid xterm -geometry 400x100+0+0 -bg "#12ab34" >/dev/null 2>&1 &'
    expect(await backlot('sandbox', 'shell', 'seen', '--local', '--', paint)).toMatchObject({ status: 0 })
    await browser.until(`${at} === '18,171,52'`)
    expect(before).not.toBe('18,171,52')
    await page.keep('sandbox')
  },
  2 * minutes,
)

test(
  'its key is in no answer, no address and no log, and its screen is given to a WebSocket alone',
  async () => {
    const { mcp } = JSON.parse((await backlot('sandbox', 'connect', 'seen', '--local')).stdout) as {
      mcp: { headers: Record<string, string> }
    }
    const key = Object.values(mcp.headers)
      .join()
      .replace(/^Bearer /, '')
    expect(key.length).toBeGreaterThan(20)
    const answer = await (await svc('/sandboxes')).text()
    expect(answer).toContain('"seen"')
    const document = await browser.evaluate<string>('document.documentElement.outerHTML + location.href')
    const loaded = await browser.evaluate<string>(
      `performance.getEntriesByType('resource').map(({ name }) => name).join()`,
    )
    const vmhostLog = await (await svc('/logs')).text()
    expect([answer, document, loaded, host.log(), vmhostLog].map((text) => text.includes(key))).toEqual(
      Array(5).fill(false),
    )
    const screen = await svc('/sandboxes/seen/screen')
    expect([screen.status, ((await screen.json()) as { code: string }).code]).toEqual([426, 'not_a_socket'])
    for (const [headers, code] of [
      [{ Origin: 'http://elsewhere.example' }, 'foreign_origin'],
      [{ Host: 'elsewhere.example' }, 'foreign_host'],
    ] as const) {
      for (const [method, path] of [
        ['GET', '/sandboxes'],
        ['DELETE', '/sandboxes/seen'],
        ['GET', '/sandboxes/seen/screen'],
      ] as const) {
        const refused = await svc(path, { method, headers })
        expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, code])
      }
    }
    expect(await statusOf('seen')).toBe('running')
  },
  minutes,
)

test(
  'it is suspended, resumed and, after a question, deleted from there',
  async () => {
    await page.click('Suspend')
    await page.shows('The screen appears here while the sandbox runs.')
    expect(await statusOf('seen')).toBe('suspended')
    const screen = await svc('/sandboxes/seen/screen')
    expect([screen.status, ((await screen.json()) as { code: string }).code]).toEqual([409, 'sandbox_not_running'])
    await page.click('Resume')
    await browser.until(`document.querySelector('.screen')?.dataset.state === 'shown'`)
    expect(await statusOf('seen')).toBe('running')
    await page.click('Delete…')
    await page.shows('This cannot be undone.')
    await page.keep('sandbox-delete')
    await browser.press('Escape')
    await browser.until(`document.querySelector('dialog') === null`)
    expect(await statusOf('seen')).toBe('running')
    await page.click('Delete…')
    await page.click('Delete')
    await page.shows('No sandboxes')
    expect(await listed()).toEqual([])
  },
  2 * minutes,
)

test('one that is gone is told of by its name, and the browser had nothing to complain of', async () => {
  for (const [method, path] of [
    ['POST', '/sandboxes/nobody/suspend'],
    ['POST', '/sandboxes/nobody/resume'],
    ['DELETE', '/sandboxes/nobody'],
    ['GET', '/sandboxes/nobody/screen'],
  ] as const) {
    const answer = await svc(path, { method })
    const { code, message } = (await answer.json()) as { code: string; message: string }
    expect([path, answer.status, code, message.includes('"nobody"')]).toEqual([path, 404, 'sandbox_not_found', true])
  }
  // A browser tells of each WebSocket that is refused; the page tries its screen again until it hears of the end.
  const isOfScreen = (fault: string) => fault.includes('/sandboxes/seen/screen')
  expect(browser.faults.filter((fault) => !isOfScreen(fault))).toEqual([])
})
