/** Windows, and the desktop at a glance. */

import type { App, Window } from '@backlot/native'
import { Type } from '@sinclair/typebox'
import { pid } from '../tool/arguments.ts'
import { reads, tool } from '../tool/tool.ts'

/** One line a window, as the texts of several tools show it. */
export const windowLine = (window: Window): string => {
  const { window_id, app_name, title, width, height, x, y } = window
  const notes = [
    window.kind === 'normal' ? '' : ` ${window.kind}`,
    window.is_minimized ? ' minimised' : window.is_on_screen ? '' : ' off-screen',
    window.on_current_space ? '' : ' on another workspace',
  ]
  return `- window_id=${window_id} pid=${window.pid} ${app_name} "${title}" ${width}x${height} at (${x}, ${y})${notes.join('')}`
}

/** True for a window that shows a part of itself now. */
export const isInView = (window: Window): boolean => window.is_on_screen && window.on_current_space

/** Back to front. */
export const inStackingOrder = (windows: readonly Window[]): Window[] =>
  windows.toSorted((a, b) => a.z_index - b.z_index)

export const listWindows = tool({
  name: 'list_windows',
  title: 'List windows',
  description: 'Top-level windows, back to front, with window_id, pid, title and bounds. Start here to find a window.',
  arguments: Type.Object({
    on_screen_only: Type.Optional(
      Type.Boolean({ default: false, description: 'Leave out minimised windows and other workspaces.' }),
    ),
    pid: Type.Optional({ ...pid, description: "Only this process's windows." }),
  }),
  attributes: reads(),
  async run({ driver }, args) {
    const all = inStackingOrder(await (await driver.desktop()).windows())
    const windows = all.filter(
      (window) => (args.pid === undefined || window.pid === args.pid) && (!args.on_screen_only || isInView(window)),
    )
    return {
      text: [`Found ${windows.length} window(s).`, ...windows.map(windowLine)].join('\n'),
      structured: { windows },
    }
  },
})

export const getAccessibilityTree = tool({
  name: 'get_accessibility_tree',
  title: 'Desktop overview',
  description:
    'Running apps and on-screen windows in one cheap call. For the elements of a window use get_window_state.',
  arguments: Type.Object({}),
  attributes: reads(),
  async run({ driver }) {
    const desktop = await driver.desktop()
    const [everyApp, everyWindow] = await Promise.all([desktop.apps(), desktop.windows()])
    const apps = everyApp.filter(({ running }) => running)
    const windows = inStackingOrder(everyWindow).filter(isInView)
    const appLine = (app: App) => `- ${app.name} pid=${app.pid}${app.active ? ' active' : ''}`
    return {
      text: [
        `✅ ${apps.length} running app(s), ${windows.length} on-screen window(s), back to front.`,
        ...apps.map(appLine),
        ...windows.map(windowLine),
      ].join('\n'),
      structured: { apps, windows },
    }
  },
})
