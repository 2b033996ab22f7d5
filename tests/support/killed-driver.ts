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
  await client.ask('click', { ...target, ...button })
  return { app, target, client, button, usual: await countsOf(on) }
}

/** Pid of the desktop's daemon, or null when none runs. */
const daemonOf = async (on: TestDesktop): Promise<number | null> =>
  (JSON.parse((await on.run(driverCommand('status'))).stdout) as { pid?: number }).pid ?? null

/** Calls that keep the agent's pointer and keyboard busy until the daemon is gone. */
const actAway = async ({ client, target, button }: Scene): Promise<void> => {
  const clicking = async () => {
    for (;;) if ((await client.call('click', { ...target, ...button, count: 3 })).isError) return
  }
  const typing = async () => {
    for (;;) if ((await client.call('press_key', { ...target, key: 'f', modifiers: ['shift'] })).isError) return
  }
  await Promise.all([clicking(), typing()])
}

/**
 * Kills the daemon when the application has seen `events` more events of the agent's, has the client act again, which
 * starts the next daemon, and gives what is left of the dead one, in words.
 */
export const killedDriver = async (on: TestDesktop, scene: Scene, events: number): Promise<string[]> => {
  const dead = await daemonOf(on)
  if (dead === null) throw new Error('no daemon runs that could be killed')
  const mark = scene.app.journal.mark()
  const acting = actAway(scene)
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
