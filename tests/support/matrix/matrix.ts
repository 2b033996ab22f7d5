/** The matrix of what reaches a window in the background: toolkit by action, under one window manager. */
import { endApplication } from '../applications.ts'
import type { TestDesktop } from '../desktop.ts'
import { windowsOf } from '../look.ts'
import type { McpClient } from '../mcp-client.ts'
import { type Person, seatPerson } from '../person.ts'
import { until } from '../until.ts'
import { asPerson } from '../witness/index.ts'
import { actions } from './actions.ts'
import { type Cell, cellOf } from './cell.ts'
import { noticed } from './exceptions.ts'
import { type Scene, toolkits } from './scene.ts'

/** How the window lies while it is acted on. */
export type Placing = 'covered' | 'other workspace' | 'minimised'

/** Cells by the name of the action. */
export type Row = Readonly<Record<string, Cell>>

const place: Record<Placing, (on: TestDesktop, window: number) => Promise<unknown>> = {
  covered: async () => undefined,
  'other workspace': (on, window) => asPerson.toWorkspace(on, window, 1),
  async minimised(on, window) {
    await asPerson.toWorkspace(on, window, 0)
    await asPerson.minimize(on, window)
  },
}

const isAway = async (client: McpClient, { target }: Scene, placing: Placing): Promise<boolean> => {
  const [window] = (await windowsOf(client, target.pid)).filter(({ window_id }) => window_id === target.window_id)
  return placing === 'minimised' ? window?.is_minimized === true : window?.on_current_space === false
}

/** Starts the toolkit's application, seats a person in front of it, and tries every action in every placing. */
export const rowsOf = async (
  on: TestDesktop,
  client: McpClient,
  toolkit: string,
  placings: readonly Placing[],
): Promise<Readonly<Record<string, Row>>> => {
  const open = toolkits[toolkit]
  if (open === undefined) throw new Error(`the matrix has no toolkit "${toolkit}"`)
  const rows: Record<string, Row> = {}
  await using scene = await open(on, client)
  // Over all of it: nothing of the application is to be seen. The pointer is left of every place that is clicked, and above
  // the one where agents' pointers rest, by which GTK 3 opens its menus; all open to the right, how far depends on the font.
  // One that opens over the person's pointer has it, whoever opened it.
  const person = await seatPerson(on, '1240x740+10+10', { x: 30, y: 60 })
  try {
    for (const placing of placings) {
      await place[placing](on, scene.target.window_id)
      if (placing !== 'covered') await until(`the window to be ${placing}`, () => isAway(client, scene, placing))
      rows[placing] = await rowOf(client, scene, person, toolkit)
    }
  } finally {
    process.kill(scene.target.pid, 'SIGKILL')
    // The next one's window would be told that the pointer enters when what covers it goes.
    await endApplication(on, person.window)
    await until('its windows to go', async () => (await windowsOf(client, scene.target.pid)).length === 0)
  }
  return rows
}

const rowOf = async (client: McpClient, scene: Scene, person: Person, toolkit: string): Promise<Row> => {
  const row: Record<string, Cell> = {}
  for (const [name, action] of Object.entries(actions)) {
    const known = noticed.filter((each) => each.toolkits.includes(toolkit) && each.actions.includes(name))
    const tolerated = known.flatMap(({ events }) => events)
    row[name] = await cellOf(client, scene, person, action, tolerated)
  }
  return row
}

/** The cell as the published table shows it. */
const shown = (cell: Cell): string => {
  if (cell.outcome === 'arrived') return cell.effect === 'confirmed' ? 'yes' : 'yes, unverified'
  if (cell.outcome === 'refused') return `\`${cell.code}\``
  return cell.outcome === 'absent' ? '–' : 'no'
}

/** A Markdown table: a line for each toolkit and placing. */
export const tableOf = (rows: readonly { readonly label: string; readonly row: Row }[]): string => {
  const names = Object.keys(actions)
  const lines = rows.map(({ label, row }) => [label, ...names.map((name) => shown(row[name] ?? { outcome: 'absent' }))])
  return [['', ...names], ['---', ...names.map(() => '---')], ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
