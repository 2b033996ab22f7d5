/** A round of the kill test of the driver: its daemon is killed in the middle of actions, and what is left is looked for. */
import { existsSync } from 'node:fs'
import { type Application, startGtk3 } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import { driverCommand, socketOf } from './driver.ts'
import { middleOf, type Target } from './look.ts'
import { connect, type McpClient } from './mcp-client.ts'
import { listeningSockets } from './traces.ts'
import { displayState, grabbable, keymapOf } from './witness/index.ts'

/** What the rounds share: an application, a client, and the place of its button. */
export interface Scene {
  readonly app: Application
  readonly target: Target
  readonly client: McpClient
  readonly button: { readonly x: number; readonly y: number }
  /** The middle of its text view. */
  readonly notes: { readonly x: number; readonly y: number }
  /** The display while one driver is at work. */
  readonly usual: Usual
}

interface Usual {
  /** How many windows the root has, and how many of them let all input through. */
  readonly children: number
  readonly hollow: number
  /** Keycodes with their keysyms, as JSON. */
  readonly keymap: string
}

const usualOf = async (on: TestDesktop): Promise<Usual> => {
  const { children } = await displayState(on)
  const hollow = children.filter(({ input_shape }) => input_shape.length === 0).length
  return { children: children.length, hollow, keymap: JSON.stringify(await keymapOf(on)) }
}

/** Sets the scene and lets the driver act once; `setUp` adds to it before the display is looked at. */
export const openScene = async <More>(
  on: TestDesktop,
  setUp: (client: McpClient) => Promise<More>,
): Promise<Scene & More> => {
  const app = await startGtk3(on, 'controls')
  const target = { pid: app.pid, window_id: app.windowId }
  const client = await connect(on)
  const more = await setUp(client)
  const button = await middleOf(client, target, 'Press me')
  const notes = await middleOf(client, target, 'Notes')
  await client.ask('click', { ...target, ...button })
  return { ...more, app, target, client, button, notes, usual: await usualOf(on) }
}

/** A call of a tool. */
export type ToolCall = readonly [tool: string, args: Record<string, unknown>]

/** One call of each kind of gesture. */
export const gestures = {
  click: ({ target, button }: Scene) => ['click', { ...target, ...button, count: 3 }],
  double_click: ({ target, button }: Scene) => ['double_click', { ...target, ...button }],
  right_click: ({ target, button }: Scene) => ['right_click', { ...target, ...button, modifier: ['ctrl'] }],
  drag: ({ target, notes: { x, y } }: Scene) => [
    'drag',
    { ...target, from_x: x - 60, from_y: y, to_x: x + 60, to_y: y, duration_ms: 200, modifier: ['shift'] },
  ],
  wheel: ({ target, notes }: Scene) => ['scroll', { ...target, ...notes, direction: 'down', amount: 5, mode: 'wheel' }],
  press_key: ({ target }: Scene) => ['press_key', { ...target, key: 'f', modifiers: ['shift'] }],
  hotkey: ({ target }: Scene) => ['hotkey', { ...target, keys: ['ctrl', 'shift', 'left'] }],
} as const satisfies Record<string, (scene: Scene) => ToolCall>

/** Pid of the desktop's daemon, or null when none runs. */
export const daemonOf = async (on: TestDesktop): Promise<number | null> =>
  (JSON.parse((await on.run(driverCommand('status'))).stdout) as { pid?: number }).pid ?? null

/**
 * Makes these calls at the same time, again and again, and kills the daemon when the first of them is through to this
 * `part` (0 to 1) for the second time. Then has the client act, which starts the next daemon, and gives what is left of
 * the dead one, in words, when `tidy` has removed what may stay.
 */
export const killedDriver = async (
  on: TestDesktop,
  scene: Scene,
  part: number,
  calls: readonly [ToolCall, ...ToolCall[]],
  tidy: (dead: number) => Promise<string[]> = async () => [],
): Promise<string[]> => {
  const dead = await daemonOf(on)
  if (dead === null) throw new Error('no daemon runs that could be killed')
  const [first] = calls
  const began = performance.now()
  await scene.client.ask(...first)
  const took = performance.now() - began

  let isDead = false
  const codes = new Set<string>()
  const again = async ([tool, args]: ToolCall) => {
    while (!isDead) codes.add(String((await scene.client.call(tool, args)).structured.code ?? 'done'))
  }
  const acting = Promise.all(calls.map(again))
  // No condition to wait for: in each round it dies at another moment of the call.
  await Bun.sleep(took * part)
  isDead = true
  process.kill(dead, 'SIGKILL')
  await acting
  // An answer that was on its way keeps the client from knowing.
  if (!codes.has('daemon_lost')) codes.add(String((await scene.client.call('list_windows')).structured.code ?? 'done'))
  const pressed = scene.app.journal.mark()
  await scene.client.ask('click', { ...scene.target, ...scene.button })
  await scene.app.journal.waitFor('a click through the next daemon', ({ type }) => type === 'clicked', pressed)
  const untidy = await tidy(dead)

  const { masters, pointer, keys } = await displayState(on)
  const { children, hollow, keymap } = await usualOf(on)
  const sockets = listeningSockets().filter((path) => path === socketOf(on)).length
  // A call that had not left yet goes to the next daemon, which knows no elements.
  const expected = [
    'done',
    'daemon_lost',
    ...(calls.some(([, args]) => 'element_index' in args) ? ['stale_element'] : []),
  ]
  const told = [...codes].filter((code) => !expected.includes(code))
  const left: Record<string, boolean> = {
    [`process ${dead}`]: existsSync(`/proc/${dead}/exe`),
    'the same daemon': (await daemonOf(on)) === dead,
    [`masters ${masters.join(', ')}`]:
      masters.length !== 4 || masters.some((name) => name.startsWith(`backlot ${dead} `)),
    'a pressed button': pointer.buttons !== 0,
    [`the keys ${keys.join(', ')} held`]: keys.length > 0,
    'other keys': keymap !== scene.usual.keymap,
    [`${children} windows of the root instead of ${scene.usual.children}`]: children > scene.usual.children,
    [`${hollow} windows that let input through`]: hollow > scene.usual.hollow,
    [`${sockets} sockets`]: sockets !== 1,
    [`an answer ${told.join(', ')}`]: told.length > 0,
  }
  return [...untidy, ...Object.keys(left).filter((what) => left[what])]
}

/** The grabs that somebody holds, in words; to find out takes the focus from the person's window for a moment. */
export const grabsLeft = async (on: TestDesktop): Promise<string[]> => {
  const { pointer, keyboard } = await grabbable(on)
  return [...(pointer ? [] : ['a grab of the pointer']), ...(keyboard ? [] : ['a grab of the keyboard'])]
}
