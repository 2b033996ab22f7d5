/** How long after a click its answer comes, where the click changes something and where it does not. */
import { type Application, lateToolkits, startChromium, startLate } from '../../support/applications.ts'
import { backlotCommand } from '../../support/backlot.ts'
import type { Journal } from '../../support/journal.ts'
import { latePage, slowServer } from '../../support/late.ts'
import { until } from '../../support/until.ts'
import type { BenchDesktop } from './bench-desktop.ts'
import { type Row, spreadOf } from './measure.ts'
import { Server } from './server.ts'

const rounds = process.argv.includes('--quick') ? 3 : 15

interface Listed {
  readonly elements: readonly {
    readonly label: string
    readonly frame: { x: number; y: number; w: number; h: number }
  }[]
}

interface Shown {
  readonly pid: number
  readonly window_id: number
  readonly journal: Journal
}

/** Seconds since 1970 by the clock that the applications read. */
const now = (): number => (performance.timeOrigin + performance.now()) / 1000

const rowsOf = async (
  desktop: BenchDesktop,
  server: Server,
  name: string,
  { pid, window_id, journal }: Shown,
): Promise<Row[]> => {
  const window = await desktop.windowOf(name, (each) => each.window_id === window_id)
  const place = (label: string) =>
    until(`"${label}" in ${name}`, async () => {
      const { structuredContent } = await server.call<Listed>('get_window_state', {
        pid,
        window_id,
        capture_mode: 'ax',
      })
      const found = structuredContent?.elements.find((each) => each.label === label)
      if (found === undefined) return undefined
      const { x, y, w, h } = found.frame
      // The text beside the button, which shows nothing of the press itself.
      const { x: left = 0, y: top = 0 } = window.bounds ?? {}
      return { x: Math.round(x + w + 25 - left), y: Math.round(y + h / 2 - top) }
    })
  const [nothing, atOnce] = [await place('Nothing'), await place('At once')]
  const [without, after]: number[][] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    // The application is at rest and nothing is waited for, so that what it tells is an answer to the click.
    await server.call('wait_for', { pid, window_id, condition: 'still', still_ms: 2_200 })
    const mark = journal.mark()
    await server.call('click', { pid, window_id, ...atOnce })
    const answered = now()
    const effect = await journal.waitFor('the effect', ({ type }) => type === 'effect', mark)
    after?.push((answered - Number(effect.at)) * 1000)
    await server.call('wait_for', { pid, window_id, condition: 'still', still_ms: 150 })
    const begun = performance.now()
    await server.call('click', { pid, window_id, ...nothing })
    without?.push(performance.now() - begun)
  }
  return [
    {
      what: `answer to a click in ${name} that changes nothing`,
      unit: 'ms',
      measured: spreadOf(without ?? []),
      aim: { of: 'median', atMost: 120 },
    },
    {
      what: `answer to a click in ${name}, after its effect`,
      unit: 'ms',
      measured: spreadOf(after ?? []),
      aim: { of: 'median', atMost: 20 },
    },
  ]
}

/** Rows of each toolkit. */
export const answerRows = async (desktop: BenchDesktop): Promise<Row[]> => {
  const { on } = desktop
  await using slow = slowServer()
  await using server = await Server.open(on, backlotCommand('mcp'))
  const rows: Row[] = []
  for (const toolkit of lateToolkits) {
    const application: Application = await startLate(on, toolkit, slow.address)
    const { pid, windowId: window_id, journal } = application
    rows.push(...(await rowsOf(desktop, server, toolkit, { pid, window_id, journal })))
    await desktop.end(application)
  }
  await using browser = await startChromium(on, latePage(slow.address))
  const { window_id } = await desktop.windowOf('Chromium', ({ title }) => title.includes(browser.title))
  const { pid, journal } = browser
  rows.push(...(await rowsOf(desktop, server, 'Chromium', { pid, window_id, journal })))
  return rows
}
