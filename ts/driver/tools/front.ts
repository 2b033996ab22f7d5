/** Bringing a window in front of the person, for when that is what the person asked for. */
import { Failure } from '@backlot/contract/failure'
import { Type } from '@sinclair/typebox'
import { answer } from '../action/act.ts'
import { windowOrFrontmost } from '../action/target.ts'
import { pid, windowId } from '../tool/arguments.ts'
import { acts, tool } from '../tool/tool.ts'

export const bringToFront = tool({
  name: 'bring_to_front',
  title: 'Bring a window to the front',
  description:
    "Activates a window, which changes what the person sees and where the person's keys go. Only when the person should see it: every other tool works in the background.",
  arguments: Type.Object({ pid, window_id: Type.Optional(windowId) }),
  attributes: { ...acts(), destructive: false, idempotent: true, openWorld: false, recorded: false, disturbs: true },
  async run(call, args) {
    const window = await windowOrFrontmost(call, args.pid, args.window_id)
    const { window_id, title } = window
    const desktop = await call.driver.desktop()
    const before = await desktop.activeWindow()
    if (!(await desktop.activate(window_id))) {
      throw new Failure(
        'window_manager_refused',
        `The window manager did not bring window ${window_id} "${title}" to the front; tried: _NET_ACTIVE_WINDOW. Close what is modal, or act on the window in the background.`,
        { window_id, tried: ['_NET_ACTIVE_WINDOW'] },
      )
    }
    const fact = { kind: 'window_in_front', detail: `window ${window_id} is the active one and can be seen` } as const
    const summary = `✅ Window ${window_id} "${title}" is in front.`
    return answer(summary, { window, evidence: [fact] }, { prior_window_id: before })
  },
})
