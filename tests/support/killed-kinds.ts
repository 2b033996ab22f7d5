/** The kill test of the driver in every kind of action: what they act on, and what each could leave behind. */
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { installGtk3, startChromium, startMenus, startXterm } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import type { Journal } from './journal.ts'
import { gestures, grabsLeft, killedDriver, openScene, type Scene, type ToolCall } from './killed-driver.ts'
import { element, type Target, windowsOf } from './look.ts'
import type { McpClient } from './mcp-client.ts'
import { type Person, seatPerson } from './person.ts'
import { markedProcesses } from './traces.ts'
import { until } from './until.ts'
import { displayState } from './witness/index.ts'

/** What keeps what the person has copied. */
const owners = new WeakMap<TestDesktop, Bun.Subprocess>()

/** An application to be launched, by its id. */
const launched = 'backlot.killed.Launched'

/** What the person has copied. */
const copied = 'copied by the person'

/** Applications for every kind of action, all behind the window of a person. */
export interface WideScene extends Scene {
  readonly on: TestDesktop
  readonly person: Person
  readonly menus: Target
  readonly page: Target
  readonly terminal: Target
}

const others = (on: TestDesktop) => async (client: McpClient) => {
  const menus = await startMenus(on)
  const terminal = await startXterm(on)
  const browser = await startChromium(on, { flags: ['--remote-debugging-port=0'] })
  const window = await until('the window of the browser', async () =>
    (await windowsOf(client, browser.pid)).find(({ title }) => title.includes(browser.title)),
  )
  installGtk3(on, launched)
  await copy(on)
  const person = await seatPerson(on, '1240x740+10+10')
  return {
    on,
    person,
    menus: { pid: menus.pid, window_id: menus.windowId },
    page: { pid: window.pid, window_id: window.window_id },
    terminal: { pid: terminal.pid, window_id: terminal.windowId },
  }
}

/** Sets the scene for every kind of action. */
export const openWideScene = (on: TestDesktop): Promise<WideScene> => openScene(on, others(on))

/** The person copies something. */
const copy = async (on: TestDesktop): Promise<void> => {
  const file = on.path('copied')
  writeFileSync(file, copied)
  owners.set(on, on.start(['xclip', '-quiet', '-selection', 'clipboard', '-i', file]))
  await until('the person to have copied', async () => (await pasted(on)) === copied)
}

const pasted = async (on: TestDesktop): Promise<string> =>
  (await on.run(['xclip', '-o', '-selection', 'clipboard'])).stdout

/** One call of each kind, on what it finds then. */
const kinds: Readonly<Record<string, (scene: WideScene) => ToolCall | Promise<ToolCall>>> = {
  ...gestures,
  type_text: ({ terminal }) => ['type_text', { ...terminal, text: 'Жé€世界ßøΩ' }],
  set_value: async ({ client, target }) => {
    const { element_index } = await element(client, target, 'Name')
    return ['set_value', { ...target, element_index, value: `value ${'long '.repeat(200)}` }]
  },
  run_steps: ({ target, button }) => {
    const click = { tool: 'click', arguments: { ...target, ...button } }
    const type = { tool: 'type_text', arguments: { ...target, text: 'steps' } }
    return ['run_steps', { steps: [click, type, click, { tool: 'get_window_state', arguments: target }] }]
  },
  launch_app: () => ['launch_app', { bundle_id: launched, creates_new_application_instance: true }],
  invoke_menu: ({ menus }) => ['invoke_menu', { ...menus, path: ['View', 'Zoom', 'Out'] }],
  get_window_state: ({ page }) => ['get_window_state', { ...page }],
  zoom: ({ target }) => ['zoom', { ...target, x1: 10, y1: 10, x2: 200, y2: 200 }],
  get_desktop_state: () => ['get_desktop_state', {}],
  page_script: ({ page }) => [
    'page',
    {
      ...page,
      action: 'execute_javascript',
      javascript: 'new Promise((settle) => setTimeout(() => settle(document.title), 100))',
    },
  ],
  page_click: ({ page }) => ['page', { ...page, action: 'click_element', selector: 'button' }],
  clipboard_read: () => ['clipboard_read', {}],
  clipboard_write: () => ['clipboard_write', { text: 'copied by the agent '.repeat(10_000) }],
}

/** Every kind of action. */
export const everyKind = Object.keys(kinds)

/**
 * Events that the person's window may see. Chromium grabs every pointer for a moment when it is pressed; and nobody is
 * left to keep an application back that opens its window after the driver which launched it is dead.
 */
const tolerated: Readonly<Record<string, readonly string[]>> = {
  page_click: ['enter-notify', 'leave-notify'],
  launch_app: ['focus-change'],
}

/** Kills the daemon at this `part` (0 to 1) of an action of the kind, and gives what is left, in words. */
export const killedDuring = async (scene: WideScene, kind: string, part: number): Promise<string[]> => {
  const { on, person } = scene
  const found = await person.undisturbed(async () => {
    const call = await kinds[kind]?.(scene)
    if (call === undefined) throw new Error(`there is no kind of action "${kind}"`)
    const covers = await coversOf(on)
    const left = await killedDriver(on, scene, part, [call], (dead) => endLaunched(on, dead))
    const clipboard = await pasted(on)
    // xclip ends by an error of the display when the window of whoever reads it is gone in the middle.
    const isLost = kind === 'clipboard_read' && clipboard === '' && owners.get(on)?.exitCode !== null
    if (kind === 'clipboard_write' || isLost) await copy(on)
    else if (clipboard !== copied) left.push(`"${clipboard.slice(0, 60)}" in the clipboard`)
    if ((await coversOf(on)) !== covers) left.push('a hole in a window')
    return left
  }, tolerated[kind])
  const mark = person.window.journal.mark()
  const grabs = await grabsLeft(on)
  // Its own grabs are seen by the person's window, which may say so only when the next round has begun.
  for (const [what, fits] of grabs.length > 0 ? [] : grabsEnded) await person.window.journal.waitFor(what, fits, mark)
  return [...found, ...grabs]
}

/** What the window that has pointer and focus sees when grabs of both have ended. */
const grabsEnded = [
  ['the pointer to be back', ({ type }) => type === 'enter-notify'],
  ['the focus to be back', ({ type, focused }) => type === 'focus-change' && focused === true],
] as const satisfies readonly (readonly [string, Parameters<Journal['waitFor']>[1]])[]

/** The input shapes of the windows that applications have, as JSON. */
const coversOf = async (on: TestDesktop): Promise<string> => {
  const { children } = await displayState(on)
  return JSON.stringify(children.filter(({ input_shape }) => input_shape.some(([, , width = 0]) => width > 100)))
}

/** Ends what drivers have launched; of what the dead one launched names all that is not the application itself. */
const endLaunched = async (on: TestDesktop, dead: number): Promise<string[]> => {
  const ours = markedProcesses(on.desktop.folder).flatMap((pid) => {
    const [id = ''] = /DESKTOP_STARTUP_ID=backlot-\d+/.exec(read(pid, 'environ')) ?? []
    return id === '' ? [] : [{ pid, by: Number(id.split('-')[1]), words: read(pid, 'cmdline').split('\0') }]
  })
  for (const { pid } of ours) process.kill(pid, 'SIGKILL')
  await until('the launched windows to be gone', async () => {
    const { stdout } = await on.run(['xdotool', 'search', '--name', `^${launched} window$`])
    return stdout.trim() === ''
  })
  const helpers = ours.filter(({ by, words }) => by === dead && !words.some((word) => basename(word) === launched))
  return helpers.map(({ words }) => `the helper ${words.join(' ')}`)
}

const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
