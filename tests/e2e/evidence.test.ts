import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startChromium, startGtk3, startQt } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { judge, type Subject, summaryOf } from '../support/evidence.ts'
import { element, elementsOf, type ListedWindow, middleOf, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
}, 60_000)

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
}, 30_000)

const configure = async (value: string) =>
  expect((await on().run(driverCommand('config', 'set', 'evidence_timeout_ms', value))).status).toBe(0)

const subjectOf = ({ pid, windowId, journal }: Application) => ({
  target: { pid, window_id: windowId },
  journal,
  async [Symbol.asyncDispose]() {
    process.kill(pid)
  },
})

const subjects: Readonly<Record<string, () => Promise<Subject & AsyncDisposable>>> = {
  'GTK 3': async () => subjectOf(await startGtk3(on(), 'controls', { geometry: '420x480+120+100' })),
  'Qt 5': async () => subjectOf(await startQt(on(), 5)),
  'Qt 6': async () => subjectOf(await startQt(on(), 6)),
  Chromium: async () => {
    const browser = await startChromium(on())
    const window = await until('the window of the browser', async () =>
      (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
    )
    const target = { pid: window.pid, window_id: window.window_id }
    await until('the elements of the page', async () =>
      (await elementsOf(client, target)).some(({ label }) => label === 'Press me'),
    )
    return { target, journal: browser.journal, [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose]() }
  },
}

test.each(Object.keys(subjects))(
  'of what arrives in %s most is confirmed, and nothing that does not arrive',
  async (toolkit) => {
    const start = subjects[toolkit]
    if (start === undefined) throw new Error(toolkit)
    await using subject = await start()
    const judged = await judge(client, subject)
    console.log(summaryOf(toolkit, judged))
    expect(judged.filter(({ delivered, effect }) => effect === 'confirmed' && !delivered)).toEqual([])
    const delivered = judged.filter((each) => each.delivered)
    expect(delivered.length).toBeGreaterThanOrEqual(judged.length - 1)
    const confirmed = delivered.filter(({ effect }) => effect === 'confirmed')
    expect(confirmed.length / delivered.length).toBeGreaterThanOrEqual(0.8)
  },
  120_000,
)

interface Evidence {
  readonly evidence: readonly { readonly kind: string }[]
}

test.each(['GTK 3', 'Chromium'])(
  'what %s tells with every key confirms no key that does nothing',
  async (toolkit) => {
    const start = subjects[toolkit]
    if (start === undefined) throw new Error(toolkit)
    await using subject = await start()
    const { target, journal } = subject
    await client.ask('click', { ...target, ...(await middleOf(client, target, 'Name')) })
    for (let times = 0; times < 6; times++) {
      await client.ask('wait_for', { ...target, condition: 'still', still_ms: 150 })
      const mark = journal.mark()
      const { evidence } = await client.ask<Evidence>('press_key', { ...target, key: 'f13' })
      await journal.waitFor('the key', ({ type }) => type === 'key-press' || type === 'keydown', mark)
      // The window believes for a moment to have the focus, and says so.
      expect(evidence.map(({ kind }) => kind)).not.toContain('application_reacted')
    }
  },
  60_000,
)

test('a caret that blinks confirms nothing', async () => {
  const app = await startGtk3(on(), 'controls', { title: 'Blinking', blinking: true })
  const target = { pid: app.pid, window_id: app.windowId }
  await client.ask('bring_to_front', target)
  await client.ask('click', { ...target, ...(await middleOf(client, target, 'Name')) })
  const { element_index } = await element(client, target, 'Press me')
  for (let times = 0; times < 6; times++) {
    const did = await client.ask<{ effect: string }>('click', { ...target, element_index })
    // The button does nothing that anybody could see.
    expect(did.effect).toBe('unverified')
  }
  process.kill(app.pid)
}, 60_000)

test('what is drawn by itself confirms nothing, from the first action on', async () => {
  const ticking = 'while :; do printf "%s\\r" "$(date +%N)"; sleep 0.3; done'
  on().start(['xterm', '-T', 'Ticking', '-geometry', '60x20+200+150', '-e', 'sh', '-c', ticking])
  const window = await until('the terminal', async () =>
    (await client.ask<{ windows: readonly ListedWindow[] }>('list_windows', {})).windows.find(
      ({ title, is_on_screen }) => title === 'Ticking' && is_on_screen,
    ),
  )
  const target = { pid: window.pid, window_id: window.window_id }
  await client.ask('get_window_state', { ...target, capture_mode: 'vision' })
  for (let times = 0; times < 6; times++) {
    // A place where nothing stands.
    const did = await client.ask<{ effect: string }>('click', { ...target, x: 150, y: 150 })
    expect(did.effect).toBe('unverified')
  }
  process.kill(window.pid)
}, 60_000)

test('what is drawn because of a key confirms it, in a window that was still before', async () => {
  on().start(['xterm', '-T', 'Silent', '-geometry', '60x20+300+250', '-e', 'cat'])
  const window = await until('the terminal', async () =>
    (await client.ask<{ windows: readonly ListedWindow[] }>('list_windows', {})).windows.find(
      ({ title, is_on_screen }) => title === 'Silent' && is_on_screen,
    ),
  )
  const target = { pid: window.pid, window_id: window.window_id }
  // However late a busy machine draws the letter, it is the answer to the key.
  await configure('10000')
  await client.ask('wait_for', { ...target, condition: 'still', still_ms: 1_500 })
  const did = await client.ask<Evidence & { effect: string }>('press_key', { ...target, key: 'x' })
  await configure('400')
  expect(did).toMatchObject({ effect: 'confirmed' })
  expect(did.evidence.map(({ kind }) => kind)).toContain('pixels_changed')
  process.kill(window.pid)
}, 60_000)

test('looking takes as long as the configuration says, and a refusal names what was tried', async () => {
  const app = await startGtk3(on(), 'controls', { title: 'Brief' })
  const target = { pid: app.pid, window_id: app.windowId }
  await configure('0')
  const { element_index } = await element(client, target, 'Press me')
  expect(await client.ask('click', { ...target, element_index })).toMatchObject({ effect: 'unverified' })
  await configure('400')
  const { frame, element_index: notes } = await element(client, target, 'Notes')
  expect(frame.w).toBeGreaterThan(0)
  await on().run(['xdotool', 'windowminimize', String(app.windowId)])
  await until('the window to be minimised', async () => (await windowsOf(client, app.pid))[0]?.is_minimized)
  const { structured } = await client.call('click', { ...target, element_index: notes, action: 'open' })
  expect(structured).toMatchObject({ tried: expect.arrayContaining(['accessibility action "open"']) })
  process.kill(app.pid)
}, 60_000)
