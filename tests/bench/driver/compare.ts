/** Another driver, installed from a package registry into the desktop's throw-away folder, beside ours in the same run. */
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Application, python, startGtk3 } from '../../support/applications.ts'
import { backlotCommand } from '../../support/backlot.ts'
import type { Entry } from '../../support/journal.ts'
import { until } from '../../support/until.ts'
import { asPerson } from '../../support/witness/index.ts'
import type { BenchDesktop } from './bench-desktop.ts'
import { milliseconds, type Row, sideBySide } from './measure.ts'
import { Program } from './program.ts'
import { Server } from './server.ts'

/** Package of PyPI that carries a driver of the same kind as a program. */
const packageName = 'cua-driver'

/** Milliseconds after which an event counts as not delivered. */
const patienceMs = 5_000

/** What one driver is asked, in its own words. */
interface Player {
  readonly server: Server
  picture(window: { pid: number; window_id: number }): Promise<unknown>
  tree(window: { pid: number; window_id: number }): Promise<readonly Labelled[]>
  click(window: { pid: number; window_id: number }, where: object): Promise<unknown>
  type(window: { pid: number; window_id: number }, where: object, text: string): Promise<unknown>
}

interface Labelled {
  readonly label: string
  readonly element_token: string
}

interface Tree {
  readonly elements?: readonly Labelled[]
}

const ours = (server: Server): Player => ({
  server,
  picture: (window) => server.call('get_window_state', { ...window, capture_mode: 'vision' }),
  tree: async (window) =>
    (await server.call<Tree>('get_window_state', { ...window, capture_mode: 'ax' })).structuredContent?.elements ?? [],
  click: (window, where) => server.call('click', { ...window, ...where }),
  type: (window, where, text) => server.call('type_text', { ...window, ...where, text }),
})

/** Theirs without its cursor, which glides before it clicks, and without its limits of size. */
const theirs = async (server: Server): Promise<Player> => {
  const session = 'bench'
  await server.call('start_session', { session })
  await server.call('set_agent_cursor_enabled', { session, enabled: false })
  return {
    server,
    picture: (window) =>
      server.call('get_window_state', {
        ...window,
        session,
        include_accessibility_tree: false,
        max_image_dimension: 0,
      }),
    tree: async (window) => {
      const asked = { ...window, session, include_screenshot: false, full_output: true, timeout_ms: 20_000 }
      return (await server.call<Tree>('get_window_state', asked)).structuredContent?.elements ?? []
    },
    click: (window, where) => server.call('click', { ...window, ...where, session }),
    type: (window, where, text) => server.call('type_text', { ...window, ...where, text, session }),
  }
}

/** Installs the package; the program and its version, or why there is none. */
const installed = async ({ on }: BenchDesktop): Promise<{ program: string; version: string } | { reason: string }> => {
  const folder = on.path('compared')
  const venv = await on.run([python, '-m', 'venv', folder])
  if (venv.status !== 0) return { reason: venv.stderr.trim() }
  const pip = await on.run([
    join(folder, 'bin/pip'),
    'install',
    '--quiet',
    '--no-deps',
    '--target',
    folder,
    packageName,
  ])
  if (pip.status !== 0) return { reason: pip.stderr.trim().split('\n').at(-1) ?? 'pip failed' }
  const program = join(folder, 'cua_driver/bin/cua-driver')
  if (!existsSync(program)) return { reason: 'the package carries no program for this platform' }
  chmodSync(program, 0o755)
  await on.run([program, 'telemetry', 'disable'])
  const version = /\d+\.\d+\.\d+/.exec((await on.run([program, '--version'])).stdout)?.[0] ?? 'unknown'
  return { program, version }
}

/** Milliseconds from before `act` until the application journals what fits; for ever when nothing of it comes. */
const delivery = async (
  { journal }: Application,
  fits: (entry: Entry) => boolean,
  act: () => Promise<unknown>,
): Promise<number> => {
  const mark = journal.mark()
  const sent = (performance.timeOrigin + performance.now()) / 1000
  await act().catch((error: Error) => console.error(`  ${error.message.slice(0, 300)}`))
  const entry = await until('the event', () => journal.entries(mark).find(fits), patienceMs).catch(() => undefined)
  return entry === undefined ? Number.POSITIVE_INFINITY : (Number(entry.at) - sent) * 1000
}

/** Rows in which the other driver stands where the floor does; none, with a message, where it cannot be installed. */
export const compareRows = async (desktop: BenchDesktop): Promise<Row[]> => {
  const { on, x } = desktop
  const other = await installed(desktop)
  if ('reason' in other) {
    console.error(`  "${packageName}" cannot be installed, nothing is compared: ${other.reason}`)
    return []
  }
  const name = `${packageName} ${other.version}`
  await using own = await Server.open(on, backlotCommand('mcp'))
  await using foreign = await Server.open(on, [other.program, 'mcp'])
  const [us, them] = [ours(own), await theirs(foreign)]
  const rows: Row[] = []
  const both = async (
    what: string,
    rounds: number,
    measure: (player: Player) => Promise<number>,
    unit: Row['unit'] = 'ms',
  ) => {
    const spreads = await sideBySide(rounds, { own: () => measure(us), foreign: () => measure(them) })
    rows.push({ what, unit, measured: spreads.own, floor: { name, spread: spreads.foreign } })
  }

  const factory = on.start(['gtk3-widget-factory'])
  const { pid, window_id } = await desktop.windowOf('gtk3-widget-factory', (each) => each.pid === factory.pid)
  await both('tree and elements of gtk3-widget-factory, unchanged', 10, (player) =>
    milliseconds(() => player.tree({ pid, window_id })),
  )
  await both('number of its elements', 1, async (player) => (await player.tree({ pid, window_id })).length, 'elements')
  {
    await using frames = new Program([await desktop.example('capture', 'frames'), 'Frames'], on.env)
    const full = Number(await frames.next())
    const window = await desktop.windowOf('the frames', (each) => each.window_id === full)
    await both('picture of a new 1920x1080 frame', 15, async (player) => {
      await frames.ask('new')
      return milliseconds(() => player.picture({ pid: window.pid, window_id: full }))
    })
  }
  const covered = await startGtk3(on, 'controls', { geometry: '420x480+120+100' })
  const front = await startGtk3(on, 'person', { geometry: '760x700+40+40' })
  await asPerson.activate(on, front.windowId)
  await until('the window in front to be active', async () => (await x.activeWindow()) === front.windowId)
  const target = { pid: covered.pid, window_id: covered.windowId }
  /** The element of that label in each driver's words. */
  const named = async (label: string): Promise<(player: Player) => object> => {
    const tokens = new Map<Player, object>()
    for (const player of [us, them]) {
      const found = (await player.tree(target)).find((each) => each.label === label)
      if (found === undefined) throw new Error(`a driver does not see "${label}"`)
      tokens.set(player, { element_token: found.element_token })
    }
    return (player) => tokens.get(player) ?? {}
  }
  // Theirs clicks only where its caller has a picture of.
  for (const player of [us, them]) await player.picture(target)
  await both('click on an empty spot of a covered window, until its press', 10, (player) =>
    delivery(
      covered,
      ({ type }) => type === 'button-press',
      () => player.click(target, { x: 10, y: 300 }),
    ),
  )
  const button = await named('Press me')
  await both('click of a button in it by its token, until it is clicked', 10, (player) =>
    delivery(
      covered,
      ({ type }) => type === 'clicked',
      () => player.click(target, button(player)),
    ),
  )
  await both('the same, until the answer', 10, (player) => milliseconds(() => player.click(target, button(player))))
  const field = await named('Name')
  const text = 'a hundred letters '.repeat(6).slice(0, 100)
  let typed = ''
  await both('text of 100 characters into its field, until all is there', 5, (player) => {
    typed += text
    return delivery(
      covered,
      ({ type, value }) => type === 'changed' && String(value).length === typed.length,
      () => player.type(target, field(player), text),
    )
  })
  await desktop.end(factory, covered, front)
  return rows
}
