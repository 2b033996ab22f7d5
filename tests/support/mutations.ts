/** Argument objects that are wrong in one way or another, and what must come of each: a result or a typed failure. */
import { failures } from '@backlot/contract/failure'
import { type Application, startGtk3 } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import { element } from './look.ts'
import { connect } from './mcp-client.ts'

type Arguments = Record<string, unknown>
type Random = () => number

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
const randomFrom = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

/** Values that a careless or hostile caller sends. No small number of them can be the pid of anything of ours. */
const values: readonly unknown[] = [
  null,
  true,
  false,
  -1,
  0,
  1,
  0.5,
  -0.0,
  1e9,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  1e308,
  '',
  ' ',
  '0',
  'press',
  'nothing of that name',
  '\u0000',
  '\ud800',
  '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ‮',
  '../../..',
  '/nonexistent/file.png',
  'x'.repeat(200_001),
  [],
  [null],
  ['ctrl', 'ctrl'],
  ['x'.repeat(1000)],
  Array(1000).fill('shift'),
  {},
  { toString: 1 },
  { pid: 1 },
]

const names = ['pid', 'window_id', 'element_index', 'x', 'y', 'key', 'text', 'unknown', '__proto__', 'constructor', '']

/** Changes one to three fields: another value, a missing one, or one that does not belong there. */
const mutate = (random: Random, args: Arguments): Arguments => {
  const mutated = { ...args }
  const changes = 1 + Math.floor(random() * 3)
  for (let change = 0; change < changes; change += 1) {
    const own = Object.keys(mutated)
    const name = own.length > 0 && random() < 0.7 ? pick(random, own) : pick(random, names)
    if (random() < 0.2) delete mutated[name]
    else
      Object.defineProperty(mutated, name, {
        value: pick(random, values),
        enumerable: true,
        configurable: true,
        writable: true,
      })
  }
  return mutated
}

/** A right call of each tool that harms nothing. */
const rightCalls = (app: Application, element_index: number): Record<string, Arguments[]> => {
  const target = { pid: app.pid, window_id: app.windowId }
  return {
    list_apps: [{}],
    list_windows: [{ pid: app.pid, on_screen_only: true }],
    get_window_state: [
      { ...target, capture_mode: 'ax', query: 'e', max_elements: 50, max_depth: 20, timeout_ms: 1000 },
      target,
    ],
    get_accessibility_tree: [{}],
    get_screen_size: [{}],
    get_cursor_position: [{}],
    get_config: [{}],
    set_config: [{ capture_mode: 'som', max_image_dimension: 0 }],
    get_recording_state: [{}],
    start_recording: [{ output_dir: '/dev/null/nowhere', record_video: false }],
    stop_recording: [{}],
    replay_trajectory: [{ dir: '/nonexistent', delay_ms: 0, stop_on_error: true }],
    start_session: [{ session: 'mutated' }],
    end_session: [{ session: 'mutated' }],
    get_agent_cursor_state: [{ cursor_id: 'mutated' }],
    move_cursor: [{ x: 5, y: 5, cursor_id: 'mutated' }],
    set_agent_cursor_enabled: [{ enabled: true, cursor_id: 'mutated' }],
    set_agent_cursor_motion: [
      { cursor_icon: 'dot', cursor_color: 'teal', cursor_label: 'a', cursor_size: 8, cursor_opacity: 0.5 },
      { start_handle: 0.5, arc_size: 0.1, arc_flow: -1, spring: 1, glide_duration_ms: 50, idle_hide_ms: 0 },
    ],
    set_agent_cursor_style: [{ gradient_colors: ['#ff0000', '#00f'], bloom_color: '#0f0', image_path: '/nonexistent' }],
    launch_app: [{ name: 'backlot-no-such-application', urls: ['about:blank'], additional_arguments: ['--x'] }],
    kill_app: [{ pid: 2 ** 22 + 1 }],
    click: [
      { ...target, element_index, action: 'press' },
      { ...target, x: 5, y: 300, count: 1, modifier: ['shift'] },
    ],
    type_text: [{ ...target, element_index, text: 'a', delay_ms: 0 }],
    press_key: [{ ...target, key: 'a', modifiers: ['ctrl'] }],
    check_permissions: [{ prompt: false }],
    check_for_update: [{}],
    bring_to_front: [target],
    double_click: [
      { ...target, element_index },
      { ...target, x: 5, y: 300 },
    ],
    right_click: [{ ...target, x: 5, y: 300, modifier: ['ctrl'] }],
    drag: [{ ...target, from_x: 60, from_y: 200, to_x: 90, to_y: 200, duration_ms: 1, steps: 2, button: 'left' }],
    hotkey: [{ ...target, keys: ['ctrl', 'a'] }],
    set_value: [{ ...target, element_index, value: 'b' }],
    scroll: [
      { ...target, direction: 'down', by: 'line', amount: 1, element_index },
      { ...target, direction: 'up', amount: 1, mode: 'wheel', x: 60, y: 200 },
    ],
    zoom: [{ ...target, x1: 10, y1: 10, x2: 90, y2: 90 }],
    run_steps: [
      { steps: [{ tool: 'get_screen_size' }, { tool: 'press_key', arguments: { ...target, key: 'a' } }], ...target },
    ],
    wait_for: [{ ...target, condition: 'text', text: 'Press me', timeout_ms: 50 }],
    invoke_menu: [{ ...target, path: ['File', 'Nothing'] }],
    set_window_frame: [{ ...target, x: 120, y: 110 }],
    page: [{ ...target, action: 'get_text' }],
    get_desktop_state: [{}],
    clipboard_read: [{}],
    clipboard_write: [{ text: 'a', files: ['/nonexistent/a'] }],
  }
}

/**
 * Sends `count` mutated calls over MCP; gives those that were answered neither by a result nor by a typed failure, and
 * what another window saw of them.
 */
export const mutatedCalls = async (on: TestDesktop, count: number, seed: number): Promise<string[]> => {
  const random = randomFrom(seed)
  const app = await startGtk3(on, 'controls')
  const bystander = await startGtk3(on, 'person', { title: 'Backlot bystander', geometry: '300x300+900+450' })
  const mark = bystander.journal.mark()
  await using client = await connect(on)
  const target = { pid: app.pid, window_id: app.windowId }
  const { element_index } = await element(client, target, 'Name')
  const calls = rightCalls(app, element_index)
  const tools = (await client.client.listTools()).tools.map(({ name }) => name)
  const untried = tools.filter((name) => !Object.hasOwn(calls, name))
  if (untried.length > 0) throw new Error(`no right call of ${untried.join(', ')} to mutate`)
  const wrong: string[] = []
  for (let turn = 0; turn < count; turn += 1) {
    const tool = pick(random, tools)
    const args = mutate(random, pick(random, calls[tool] ?? []))
    const sent = `#${turn} ${tool} ${JSON.stringify(args).slice(0, 300)}`
    try {
      const { isError, structured, text } = await client.call(tool, args)
      const code = String(structured.code)
      if (isError && (!Object.hasOwn(failures, code) || code === 'internal'))
        wrong.push(`${sent}: ${code} ${text.slice(0, 300)}`)
    } catch (error) {
      wrong.push(`${sent}: ${(error as Error).message}`)
    }
  }
  await client.ask('get_config')
  const pressed = bystander.journal.entries(mark).filter(({ type }) => /^(?:button|key|scroll)/.test(type))
  return [...wrong, ...pressed.map((event) => `outside the target: ${JSON.stringify(event)}`)]
}

/** The seed of this run: that of `BACKLOT_SEED`, or a new one. It is printed, so that a failure can be had again. */
export const seedOf = (env: Readonly<Record<string, string | undefined>>): number => {
  const seed = env.BACKLOT_SEED === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(env.BACKLOT_SEED)
  console.log(`mutations: BACKLOT_SEED=${seed}`)
  return seed
}
