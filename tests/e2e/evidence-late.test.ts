import { afterAll, beforeAll, expect, test } from 'bun:test'
import { evidence, late as following } from '@backlot/contract/limits'
import { endApplication, lateToolkits, startChromium, startLate } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import {
  type Button,
  type Buttons,
  buttonsOf,
  effectOf,
  type Late,
  latePage,
  pressButton,
  slowServer,
  toldLate,
} from '../support/late.ts'
import { element, elementsOf, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { stalledMs } from '../support/pressure.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

/** Waits until nothing that anything did before can be taken for what comes next, which is a second. */
const rest = ({ target }: Buttons, by = client) =>
  by.ask<{ late?: readonly Late[] }>('wait_for', { ...target, condition: 'still', still_ms: 1_300, timeout_ms: 20_000 })

const slow: readonly Button[] = ['After 150', 'After 300', 'Fetched']

/** What acts at once is confirmed, what does nothing is not, and what acts later is told once with a later answer. */
const tellsTheTruth = async (app: Buttons): Promise<void> => {
  await rest(app)
  // It reads nothing while it works slowly, or its page does not: that is no rest.
  for (const button of ['At once', 'Slowly'] as const) {
    await unlessBusy(evidence.ceilingMs, async () => {
      const { effect, mark, tookMs } = await pressButton(client, app, button)
      await effectOf(app.journal, button, mark)
      await rest(app)
      if (effect !== 'confirmed') throw new NotSeen(`"${button}" is ${effect}`, tookMs)
    })
  }
  // A button that is pressed looks pressed and may take the focus.
  for (const how of ['point', 'element'] as const) {
    expect({ how, ...(await pressButton(client, app, 'Nothing', how)) }).toMatchObject({
      effect: 'unverified',
      late: [],
    })
    expect(await rest(app)).not.toHaveProperty('late')
  }
  for (const button of slow) await unlessBusy(150, () => tellsLater(app, button))
}

/** What shows nothing where the machine was busy. */
class NotSeen extends Error {
  constructor(
    what: string,
    readonly tookMs: number,
  ) {
    super(`${what} after ${Math.round(tookMs)} ms`)
  }
}

/**
 * Tries again, four times at most, after an answer that took longer than it does when the machine has time, or where tasks
 * waited for a processor for a quarter of the attempt.
 */
const unlessBusy = async (quickMs: number, attempt: () => Promise<void>): Promise<void> => {
  for (let again = 4; ; again -= 1) {
    const [began, stalled] = [performance.now(), stalledMs()]
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof NotSeen) || again === 0) throw error
      const isStalled = stalledMs() - stalled > (performance.now() - began) / 4
      if (error.tookMs < quickMs && !isStalled) throw error
    }
  }
}

const tellsLater = async (app: Buttons, button: Button): Promise<void> => {
  const { mark, effect, tookMs } = await pressButton(client, app, button)
  const answered = performance.now()
  await effectOf(app.journal, button, mark)
  // A busy machine may answer after the effect, which then confirms it.
  if (effect === 'confirmed') return
  const laterMs = performance.now() - answered
  const late = await toldLate(client, 4 * following.followMs).catch(() => undefined)
  const rested = await rest(app)
  // An effect is followed for a while only.
  if (late === undefined) throw new NotSeen(`"${button}" is not told`, Math.max(tookMs, laterMs - following.followMs))
  expect(late).toEqual([expect.objectContaining({ after: 'click', ...app.target, detail: expect.any(String) })])
  expect(rested).not.toHaveProperty('late')
}

test.each(lateToolkits)(
  'what comes late in %s is told once, and is no effect of what was done meanwhile',
  async (toolkit) => {
    await using server = slowServer()
    const application = await startLate(on(), toolkit, server.address)
    await tellsTheTruth(buttonsOf(application))
    await endApplication(on(), application)
  },
)

test('what comes late in a page is told once', async () => {
  await using server = slowServer()
  await using browser = await startChromium(on(), latePage(server.address))
  const window = await until('the window of the browser', async () =>
    (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
  )
  const target = { pid: window.pid, window_id: window.window_id }
  await until('the elements of the page', async () =>
    (await elementsOf(client, target)).some(({ label }) => label === 'Nothing'),
  )
  await tellsTheTruth({ target, journal: browser.journal })
})

test('what comes late is never taken for the effect of the next action', async () => {
  await using server = slowServer(1_000)
  const application = await startLate(on(), 'gtk3', server.address, { title: 'Backlot next' })
  const app = buttonsOf(application)
  await rest(app)
  const first = await pressButton(client, app, 'Fetched')
  expect(first).toMatchObject({ effect: 'unverified', late: [] })
  // A drag over a place that does nothing, during which the effect comes.
  const { frame } = await element(client, app.target, 'Nothing')
  const y = frame.h * 8
  const drag = { from_x: 20, from_y: y, to_x: 60, to_y: y, duration_ms: 1_800, steps: 20 }
  const next = await client.call('drag', { ...app.target, ...drag })
  expect(app.journal.entries(first.mark)).toContainEqual(expect.objectContaining({ type: 'effect', of: 'Fetched' }))
  expect(next.structured).toMatchObject({ effect: 'unverified' })
  expect(next.structured.evidence).toContainEqual({
    kind: 'perhaps_late',
    detail: expect.stringMatching(/, which may come late of click at \d\d:\d\d:\d\d\.\d$/),
  })
  expect(await rest(app)).not.toHaveProperty('late')
  await endApplication(on(), application)
})

test('what comes late is told to the session that acted, and to no other', async () => {
  await using server = slowServer()
  const application = await startLate(on(), 'gtk3', server.address, { title: 'Backlot sessions' })
  const app = buttonsOf(application)
  await using other = await connect(on())
  await rest(app)
  await unlessBusy(150, () => tellsLater(app, 'Fetched'))
  expect(await other.ask('get_screen_size')).not.toHaveProperty('late')
  // Two sessions on one window: the one that acts next is told that what it sees may be the other's.
  await rest(app)
  const slowly = await pressButton(client, app, 'Fetched')
  expect(slowly.effect).toBe('unverified')
  const next = await pressButton(other, app, 'Nothing')
  expect(next.effect).toBe('unverified')
  await effectOf(app.journal, 'Fetched', slowly.mark)
  const [mine, others] = await Promise.all([rest(app), rest(app, other)])
  const told = [...slowly.late, ...(mine.late ?? []), ...next.late, ...(others.late ?? [])]
  for (const { detail } of told) expect(detail).not.toBe('')
  // Whoever pressed nothing is told nothing as its own alone.
  for (const late of others.late ?? []) expect(late).toHaveProperty('or')
  await endApplication(on(), application)
})

test('an application that speaks all the time confirms nothing late', async () => {
  await using server = slowServer()
  const application = await startLate(on(), 'gtk3', server.address, { title: 'Backlot chatty', chatty: true })
  const app = buttonsOf(application)
  const spoke = Date.now()
  await until('it to have spoken for a while', () => Date.now() - spoke > 2_500)
  let unverified = 0
  for (let times = 0; times < 4; times += 1) {
    const { effect, kinds, late } = await pressButton(client, app, 'Nothing')
    expect(late).toEqual([])
    if (effect === 'unverified') unverified += 1
    // On a busy machine it may be silent for long enough that its next word counts as an answer.
    else expect(kinds).toEqual(['person_undisturbed', 'application_reacted'])
    const pressed = Date.now()
    await until('what comes late to be told', () => Date.now() - pressed > 2_200)
    expect(await client.ask('get_screen_size')).not.toHaveProperty('late')
  }
  expect(unverified).toBeGreaterThan(1)
  await endApplication(on(), application)
})

test('a session that ends is told nothing more, nor is one of the same name', async () => {
  await using server = slowServer()
  const application = await startLate(on(), 'gtk3', server.address, { title: 'Backlot ends' })
  const app = buttonsOf(application)
  await rest(app)
  const session = { session: 'brief' }
  await client.ask('start_session', session)
  const { element_index } = await elementsOf(client, app.target).then(
    (all) => all.find(({ label }) => label === 'Fetched') ?? Promise.reject(new Error('no button')),
  )
  const mark = app.journal.mark()
  expect(await client.ask('click', { ...app.target, element_index, ...session })).toMatchObject({
    effect: 'unverified',
  })
  await client.ask('end_session', session)
  await effectOf(app.journal, 'Fetched', mark)
  await client.ask('start_session', session)
  expect(await client.ask('get_screen_size', session)).not.toHaveProperty('late')
  await rest(app)
  expect(await client.ask('get_screen_size', session)).not.toHaveProperty('late')
  await client.ask('end_session', session)
  await endApplication(on(), application)
})
