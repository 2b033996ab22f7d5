/** A round of the kill test of the driver: its daemon is killed in the middle of actions, and what is left is looked for. */
import { existsSync } from 'node:fs'
import { type Application, startGtk3 } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import { driverCommand, socketOf } from './driver.ts'
import { middleOf, type Target } from './look.ts'
import { connect, type McpClient } from './mcp-client.ts'
import { listeningSockets } from './traces.ts'
import { until } from './until.ts'
import { displayState, grabbable } from './witness/index.ts'

/** What the rounds share: an application, a client, and the place of its button. */
export interface Scene {
  readonly app: Application
  readonly target: Target
  readonly client: McpClient
  readonly button: { readonly x: number; readonly y: number }
  /** The middle of its text view. */
  readonly notes: { readonly x: number; readonly y: number }
  /** How many windows the root has while one driver is at work, and which of them let all input through. */
  readonly usual: { readonly children: number; readonly hollow: number }
}

const countsOf = async (on: TestDesktop): Promise<Scene['usual']> => {
  const { children } = await displayState(on)
  return { children: children.length, hollow: children.filter(({ input_shape }) => input_shape.length === 0).length }
}

/** Sets the scene and lets the driver act once. */
export const openScene = async (on: TestDesktop): Promise<Scene> => {
  const app = await startGtk3(on, 'controls')
  const target = { pid: app.pid, window_id: app.windowId }
  const client = await connect(on)
  const button = await middleOf(client, target, 'Press me')
  const notes = await middleOf(client, target, 'Notes')
  await client.ask('click', { ...target, ...button })
  return { app, target, client, button, notes, usual: await countsOf(on) }
}

/** Pid of the desktop's daemon, or null when none runs. */
const daemonOf = async (on: TestDesktop): Promise<number | null> =>
  (JSON.parse((await on.run(driverCommand('status'))).stdout) as { pid?: number }).pid ?? null

/** One call of each kind of gesture, as tool and arguments. */
const gestures = {
  click: ({ button }: Scene) => ['click', { ...button, count: 3 }],
  double_click: ({ button }: Scene) => ['double_click', button],
  right_click: ({ button }: Scene) => ['right_click', { ...button, modifier: ['ctrl'] }],
  drag: ({ notes: { x, y } }: Scene) => [
    'drag',
    { from_x: x - 60, from_y: y, to_x: x + 60, to_y: y, duration_ms: 200, modifier: ['shift'] },
  ],
  wheel: ({ notes }: Scene) => ['scroll', { ...notes, direction: 'down', amount: 5, mode: 'wheel' }],
  keys: () => ['press_key', { key: 'f', modifiers: ['shift'] }],
  hotkey: () => ['hotkey', { keys: ['ctrl', 'shift', 'left'] }],
} as const satisfies Record<string, (scene: Scene) => readonly [string, Record<string, unknown>]>

/** Something that keeps the agent's pointer or keyboard busy. */
export type GestureKind = keyof typeof gestures

/** Every kind of gesture. */
export const gestureKinds = Object.keys(gestures) as readonly GestureKind[]

/** Calls that keep the agent's pointer and keyboard busy until the daemon is gone. */
const actAway = async (scene: Scene, kinds: readonly GestureKind[]): Promise<void> => {
  const going = async (kind: GestureKind) => {
    const [tool, args] = gestures[kind](scene)
    for (;;) if ((await scene.client.call(tool, { ...scene.target, ...args })).isError) return
  }
  await Promise.all(kinds.map(going))
}

/**
 * Kills the daemon when the application has seen `events` more events of gestures of these kinds, has the client act again, which
 * starts the next daemon, and gives what is left of the dead one, in words.
 */
export const killedDriver = async (
  on: TestDesktop,
  scene: Scene,
  events: number,
  kinds: readonly GestureKind[] = ['click', 'keys'],
): Promise<string[]> => {
  const dead = await daemonOf(on)
  if (dead === null) throw new Error('no daemon runs that could be killed')
  const mark = scene.app.journal.mark()
  const acting = actAway(scene, kinds)
  await until('the actions to begin', () => scene.app.journal.entries(mark).length >= events)
  process.kill(dead, 'SIGKILL')
  await acting
  const clicked = scene.app.journal.mark()
  await scene.client.ask('click', { ...scene.target, ...scene.button })
  await scene.app.journal.waitFor('a click through the next daemon', ({ type }) => type === 'clicked', clicked)

  const { masters, pointer } = await displayState(on)
  const free = await grabbable(on)
  const { children, hollow } = await countsOf(on)
  const sockets = listeningSockets().filter((path) => path === socketOf(on)).length
  const left: Record<string, boolean> = {
    [`process ${dead}`]: existsSync(`/proc/${dead}/exe`),
    'the same daemon': (await daemonOf(on)) === dead,
    [`masters ${masters.join(', ')}`]:
      masters.length !== 4 || masters.some((name) => name.startsWith(`backlot ${dead} `)),
    'a pressed button': pointer.buttons !== 0,
    'a grab of the pointer': !free.pointer,
    'a grab of the keyboard': !free.keyboard,
    [`${children} windows of the root instead of ${scene.usual.children}`]: children > scene.usual.children,
    [`${hollow} windows that let input through`]: hollow > scene.usual.hollow,
    [`${sockets} sockets`]: sockets !== 1,
  }
  return Object.keys(left).filter((what) => left[what])
}
