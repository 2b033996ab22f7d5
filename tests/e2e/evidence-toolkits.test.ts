import { afterAll, beforeAll, expect, test } from 'bun:test'
import { slowBus } from '../support/accessibility-bus.ts'
import { type Application, startChromium, startGtk3, startQt } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { lookForEffects } from '../support/driver.ts'
import { type Judged, judge, type Subject, summaryOf } from '../support/evidence.ts'
import { element, elementsOf, middleOf, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

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

/** Presses the button that does nothing, which takes the focus and looks pressed all the same. */
const confirmsNothing = async ({ target }: Subject): Promise<void> => {
  for (const how of ['element', 'point'] as const) {
    // Only the active window shows where its focus is.
    if (how === 'point') await client.ask('bring_to_front', { ...target })
    // The focus is elsewhere, and where no caret blinks.
    await client.ask('click', { ...target, ...(await middleOf(client, target, 'Check me')) })
    // A window that is still, and an application that is silent, show the least thing.
    await client.ask('wait_for', { ...target, condition: 'still', still_ms: 1_300 })
    const { element_index } = await element(client, target, 'Press me')
    const where = how === 'element' ? { element_index } : await middleOf(client, target, 'Press me')
    const { effect, evidence } = await client.ask<{ effect: string; evidence: unknown }>('click', {
      ...target,
      ...where,
    })
    expect({ how, effect, evidence }).toMatchObject({ effect: 'unverified' })
  }
}

test.each(Object.keys(subjects))(
  'of what arrives in %s most is confirmed, and nothing that does not arrive',
  async (toolkit) => {
    const start = subjects[toolkit]
    if (start === undefined) throw new Error(toolkit)
    await using subject = await start()
    // A busy machine shows late what came of an action, and that it is shown is the claim here.
    await lookForEffects(on(), 2_000)
    const judged = await judge(client, subject)
    await lookForEffects(on(), 400)
    console.log(summaryOf(toolkit, judged))
    const isFalse = ({ delivered, changes, effect }: Judged) => effect === 'confirmed' && !(delivered && changes)
    expect(judged.filter(isFalse)).toEqual([])
    const delivered = judged.filter((each) => each.delivered)
    expect(delivered.length).toBeGreaterThanOrEqual(judged.length - 1)
    const effective = delivered.filter(({ changes }) => changes)
    const confirmed = effective.filter(({ effect }) => effect === 'confirmed')
    expect(confirmed.length / effective.length).toBeGreaterThanOrEqual(0.8)
    await confirmsNothing(subject)
  },
)

test.each(['GTK 3', 'Chromium'])('what %s tells with every key confirms no key that does nothing', async (toolkit) => {
  const start = subjects[toolkit]
  if (start === undefined) throw new Error(toolkit)
  await using subject = await start()
  const { target, journal } = subject
  // A page that has just come is still telling of itself.
  await client.ask('wait_for', { ...target, condition: 'still', still_ms: 1_300 })
  await client.ask('click', { ...target, ...(await middleOf(client, target, 'Name')) })
  for (let times = 0; times < 6; times++) {
    await client.ask('wait_for', { ...target, condition: 'still', still_ms: 150 })
    const mark = journal.mark()
    const { evidence } = await client.ask<{ evidence: readonly { kind: string }[] }>('press_key', {
      ...target,
      key: 'f13',
    })
    await journal.waitFor('the key', ({ type }) => type === 'key-press' || type === 'keydown', mark)
    // The window believes for a moment to have the focus, and says so.
    expect(evidence.filter(({ kind }) => kind === 'application_reacted')).toEqual([])
  }
})

test('what an application tells by a slow accessibility bus is waited for', async () => {
  await using subject = subjectOf(await startQt(on(), 6))
  const { target } = subject
  await client.ask('click', { ...target, ...(await middleOf(client, target, 'Name')) })
  await lookForEffects(on(), 5_000)
  using _slow = await slowBus(on())
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    await client.ask('wait_for', { ...target, condition: 'still', still_ms: 600 })
    expect(await client.ask('press_key', { ...target, key })).toMatchObject({ effect: 'confirmed' })
  }
})
