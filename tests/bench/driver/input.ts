/** Clicks and text in the background, until the application has its event, against the least that can deliver them. */
import { join } from 'node:path'
import { Accessibility, Agent, type AxSnapshot } from '@backlot/native'
import { type Application, python, startGtk3 } from '../../support/applications.ts'
import { backlotCommand } from '../../support/backlot.ts'
import { until } from '../../support/until.ts'
import { asPerson } from '../../support/witness/index.ts'
import type { BenchDesktop } from './bench-desktop.ts'
import { milliseconds, type Row, sideBySide } from './measure.ts'
import { requestFor } from './mirror.ts'
import { Program } from './program.ts'
import { Server } from './server.ts'

/** Seconds since 1970 by the clock that the applications read. */
const now = (): number => (performance.timeOrigin + performance.now()) / 1000

/** Milliseconds from `sent` until the application has what it journals. */
const arrival = async (
  { journal }: Application,
  mark: number,
  type: string,
  sent: number,
  fits: (entry: Readonly<Record<string, unknown>>) => boolean = () => true,
): Promise<number> => {
  const entry = await journal.waitFor(`"${type}"`, (each) => each.type === type && fits(each), mark)
  return (Number(entry.at) - sent) * 1000
}

/** An empty spot of the application of controls, in window pixels. */
const spot = { x: 10, y: 300 }

/** Click rows: a covered window's press against one in the window in front, and what looking for evidence takes. */
export const clickRows = async (desktop: BenchDesktop): Promise<Row[]> => {
  const { on, x } = desktop
  const covered = await startGtk3(on, 'controls', { geometry: '420x480+120+100' })
  const front = await startGtk3(on, 'person', { geometry: '760x700+40+40' })
  await asPerson.activate(on, front.windowId)
  await until('the window in front to be active', async () => (await x.activeWindow()) === front.windowId)
  await using bare = new Program([await desktop.example('input', 'bare'), '240', '500'], on.env)
  await using server = await Server.open(on, backlotCommand('mcp'))
  const agent = await Agent.open(x, 'bench')
  const click = { window_id: covered.windowId, ...spot, button: 'left' as const, count: 1, modifiers: [] }
  const looking: number[] = []
  try {
    const times = await sideBySide(40, {
      ping: () => milliseconds(() => agent.ping()),
      bare: async () => {
        const mark = front.journal.mark()
        const sent = Number(await bare.ask(''))
        return arrival(front, mark, 'button-press', sent)
      },
      background: async () => {
        const mark = covered.journal.mark()
        const sent = now()
        await agent.click(click)
        return arrival(covered, mark, 'button-press', sent)
      },
      answered: () => milliseconds(() => agent.click(click)),
      tool: async () => {
        const mark = covered.journal.mark()
        const sent = now()
        await server.call('click', { pid: covered.pid, window_id: covered.windowId, ...spot })
        const answered = (now() - sent) * 1000
        const delivered = await arrival(covered, mark, 'button-press', sent)
        looking.push(answered - delivered)
        return delivered
      },
      looking: async () => looking.at(-1) ?? Number.NaN,
    })
    const floor = { name: 'bare XTEST click in the window in front', spread: times.bare }
    return [
      {
        what: 'click in a covered window, until the application has the press',
        unit: 'ms',
        measured: times.background,
        floor,
        aim: { of: 'difference', atMost: 5 },
      },
      {
        what: 'the same click, until everything of the person is put back and checked',
        unit: 'ms',
        measured: times.answered,
        floor: { name: 'one XTEST motion with a sync', spread: times.ping },
      },
      {
        what: 'tool `click` over MCP, a look before it included, until the press',
        unit: 'ms',
        measured: times.tool,
        floor,
      },
      {
        what: 'its looking for evidence of a click that changes nothing',
        unit: 'ms',
        measured: times.looking,
        aim: { of: 'median', atMost: 120 },
      },
    ]
  } finally {
    await agent.close()
    await desktop.end(covered, front)
  }
}

const sentence = 'Hundred characters go into the field of an application that lies in the background, at once, now!!!!'

/** Text rows: a hundred characters inserted through the toolkit. */
export const textRows = async (desktop: BenchDesktop): Promise<Row[]> => {
  const application = await startGtk3(desktop.on, 'controls', { geometry: '420x480+700+300' })
  const accessibility = await Accessibility.open(null, desktop.x)
  try {
    const window = await desktop.windowOf('the controls', ({ window_id }) => window_id === application.windowId)
    const command = [python, join(import.meta.dir, 'bare_insert.py'), String(application.pid), 'Name'] as const
    await using bare = new Program(command, desktop.on.env)
    await bare.next()
    const tree: AxSnapshot = await accessibility.snapshot(requestFor(window))
    const index = Array.from({ length: tree.element_count }, (_, at) => at).find(
      (at) => tree.element(at)?.label === 'Name',
    )
    if (index === undefined) throw new Error('the field is not in the tree')
    const text = sentence.slice(0, 100)
    const empty = async () => {
      const mark = application.journal.mark()
      const { value } = await tree.setValue(index, '', 2_000)
      if (value !== '') throw new Error(`the field holds ${value}`)
      return mark
    }
    const has = ({ value }: Readonly<Record<string, unknown>>) => value === text
    const [called, read]: number[][] = [[], []]
    const times = await sideBySide(40, {
      bare: async () => {
        await empty()
        const mark = application.journal.mark()
        const [sent, took] = (await bare.ask(text)).split(' ').map(Number)
        called?.push(took ?? Number.NaN)
        return arrival(application, mark, 'changed', sent ?? Number.NaN, has)
      },
      bareCall: async () => called?.at(-1) ?? Number.NaN,
      inserted: async () => {
        await empty()
        const mark = application.journal.mark()
        const sent = now()
        const { confirmed } = await tree.insertText(index, text, 2_000)
        read?.push((now() - sent) * 1000)
        if (!confirmed) throw new Error('the text was not read back')
        return arrival(application, mark, 'changed', sent, has)
      },
      confirmed: async () => read?.at(-1) ?? Number.NaN,
    })
    return [
      {
        what: 'text of 100 characters, until the application has it',
        unit: 'ms',
        measured: times.inserted,
        floor: { name: 'bare `InsertText` until then', spread: times.bare },
        aim: { of: 'ratio', atMost: 1.5 },
      },
      {
        what: 'the same text, read before and read back',
        unit: 'ms',
        measured: times.confirmed,
        floor: { name: 'bare `InsertText` until its reply', spread: times.bareCall },
      },
    ]
  } finally {
    await accessibility.close()
    await desktop.end(application)
  }
}
