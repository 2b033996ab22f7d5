/** How true the answers to clicks are where applications take their time: shares and times, printed for every toolkit. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startDesktop } from '@backlot/headless'
import { lateToolkits, startChromium, startLate } from '../support/applications.ts'
import { TestDesktop } from '../support/desktop.ts'
import {
  type Button,
  type Buttons,
  buttons,
  buttonsOf,
  effectOf,
  type Late,
  latePage,
  pressButton,
  slowServer,
} from '../support/late.ts'
import { elementsOf, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(limitMs(600_000))

const times = rounds(4)

/** What came of all presses of one button; confirmed falsely is what has no effect, or has none yet. */
interface Share {
  confirmed: number
  falselyConfirmed: number
  unverified: number
  late: number
  lateOfNothing: number
  readonly tookMs: number[]
}

/** What shows something of its effect before it has all of it. */
const shownAtOnce: readonly Button[] = ['Animated']

/** Presses every button in turn, each after what the last one did is there and the application rests. */
const shares = async (client: McpClient, app: Buttons, how: 'element' | 'point'): Promise<Map<string, Share>> => {
  const all = new Map<string, Share>(
    buttons.map((name) => [
      name,
      { confirmed: 0, falselyConfirmed: 0, unverified: 0, late: 0, lateOfNothing: 0, tookMs: [] },
    ]),
  )
  for (let round = 0; round < times; round += 1) {
    for (const button of buttons) {
      const share = all.get(button)
      if (share === undefined) throw new Error(button)
      const did = await pressButton(client, app, button, how)
      share.tookMs.push(did.tookMs)
      const seen = button === 'Nothing' ? undefined : await effectOf(app.journal, button, did.mark)
      const isThere = seen !== undefined && (shownAtOnce.includes(button) || Number(seen.at) <= did.answered)
      if (did.effect === 'unverified') share.unverified += 1
      else if (isThere) share.confirmed += 1
      else share.falselyConfirmed += 1
      // What is still told is told by then.
      const rests = { ...app.target, condition: 'still', still_ms: 2_200, timeout_ms: 20_000 }
      const { late = [] } = await client.ask<{ late?: readonly Late[] }>('wait_for', rests)
      if (button === 'Nothing') share.lateOfNothing += late.length
      else share.late += late.length > 0 && did.effect === 'unverified' ? 1 : 0
    }
  }
  return all
}

const print = (toolkit: string, how: string, all: ReadonlyMap<string, Share>): void => {
  for (const [button, share] of all) {
    const sorted = share.tookMs.toSorted((a, b) => a - b)
    const median = Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN)
    const { confirmed, falselyConfirmed, unverified, late, lateOfNothing } = share
    console.log(
      `${toolkit}, ${how}, ${button}: ${confirmed} confirmed, ${falselyConfirmed} confirmed falsely, ${unverified} unverified, ${late} of them told late, ${lateOfNothing} told late of nothing; answered in ${median} ms at the median`,
    )
  }
}

for (const toolkit of [...lateToolkits, 'chromium'] as const) {
  test(`answers to clicks in ${toolkit} are true, and what comes late is told`, async () => {
    await using desktop = await startDesktop({})
    const on = new TestDesktop(desktop)
    await using server = slowServer()
    await using client = await connect(on)
    const judge = async (app: Buttons): Promise<void> => {
      await client.ask('wait_for', { ...app.target, condition: 'still', still_ms: 1_500, timeout_ms: 30_000 })
      for (const how of ['point', 'element'] as const) {
        const all = await shares(client, app, how)
        print(toolkit, how, all)
        expect(all.get('Nothing')).toMatchObject({ falselyConfirmed: 0, lateOfNothing: 0 })
      }
    }
    if (toolkit !== 'chromium') {
      await judge(buttonsOf(await startLate(on, toolkit, server.address)))
      return
    }
    await using browser = await startChromium(on, latePage(server.address))
    const window = await until('the window of the browser', async () =>
      (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
    )
    const target = { pid: window.pid, window_id: window.window_id }
    await until('the elements of the page', async () =>
      (await elementsOf(client, target)).some(({ label }) => label === 'Nothing'),
    )
    await judge({ target, journal: browser.journal })
  })
}
