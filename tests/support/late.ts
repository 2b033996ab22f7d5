/** Presses of buttons that take their time: what was answered, what was told later, and what the application says. */
import type { Application, BrowserOptions } from './applications.ts'
import type { Journal } from './journal.ts'
import { element, type Target } from './look.ts'
import type { McpClient } from './mcp-client.ts'
import { until } from './until.ts'

/** What the buttons are called; each but the first changes the window. */
export const buttons = ['Nothing', 'At once', 'Slowly', 'After 150', 'After 300', 'Fetched', 'Animated'] as const

/** One of them. */
export type Button = (typeof buttons)[number]

/** An application with these buttons. */
export interface Buttons {
  readonly target: Target
  readonly journal: Journal
}

/** A server that takes its time to answer. */
export const slowServer = (afterMs = 600) => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch() {
      await Bun.sleep(afterMs)
      return new Response('', { headers: { 'access-control-allow-origin': '*' } })
    },
  })
  return { address: `${server.url}`, [Symbol.asyncDispose]: () => server.stop(true) }
}

/** The page with these buttons. */
export const latePage = (address: string): BrowserOptions => ({
  page: 'late.html',
  content: (html) => html.replace('ADDRESS', address),
})

/** An application as one with these buttons. */
export const buttonsOf = ({ pid, windowId, journal }: Application): Buttons => ({
  target: { pid, window_id: windowId },
  journal,
})

/** One thing that came late, as it is told. */
export interface Late {
  readonly after: string
  readonly at: string
  readonly window_id: number
  readonly detail: string
}

/** What came of one press. */
export interface Pressed {
  readonly effect: string
  readonly kinds: readonly string[]
  /** Milliseconds until the answer, and when it came, in seconds since 1970. */
  readonly tookMs: number
  readonly answered: number
  /** What the answer told of earlier presses. */
  readonly late: readonly Late[]
  /** Where the journal stood before. */
  readonly mark: number
}

/** Presses a button by its element, or the text beside it, which shows nothing of the press itself. */
export const pressButton = async (
  client: McpClient,
  { target, journal }: Buttons,
  button: Button,
  how: 'element' | 'point' = 'point',
): Promise<Pressed> => {
  const found = await element(client, target, button)
  const { bounds } = await windowOf(client, target)
  const { x, y, w, h } = found.frame
  const beside = { x: Math.round(x + w + 25 - bounds.x), y: Math.round(y + h / 2 - bounds.y) }
  const where = how === 'element' ? { element_index: found.element_index } : beside
  const mark = journal.mark()
  const begun = performance.now()
  const did = await client.ask<{ effect: string; evidence: readonly { kind: string }[]; late?: readonly Late[] }>(
    'click',
    {
      ...target,
      ...where,
    },
  )
  const tookMs = performance.now() - begun
  const answered = (performance.timeOrigin + performance.now()) / 1_000
  return {
    effect: did.effect,
    kinds: did.evidence.map(({ kind }) => kind),
    tookMs,
    answered,
    late: did.late ?? [],
    mark,
  }
}

const windowOf = async (client: McpClient, { pid, window_id }: Target) => {
  const { windows } = await client.ask<{
    windows: readonly { window_id: number; bounds: { x: number; y: number } }[]
  }>('list_windows', { pid })
  const window = windows.find((each) => each.window_id === window_id)
  if (window === undefined) throw new Error(`the window ${window_id} is not listed`)
  return window
}

/** Waits until the application says that the effect is there. */
export const effectOf = (journal: Journal, button: Button, mark: number) =>
  journal.waitFor(`the effect of "${button}"`, ({ type, of }) => type === 'effect' && of === button, mark)

/** Asks for nothing in particular until something that came late is told; fails when nothing is within the time. */
export const toldLate = (client: McpClient, patienceMs?: number): Promise<readonly Late[]> =>
  until(
    'what came late',
    async () => {
      const { late } = await client.ask<{ late?: readonly Late[] }>('get_screen_size')
      return late
    },
    patienceMs,
  )
