/** Menus: an item by its path, through the toolkit, without a menu opening. */
import { accessibleActionTimeoutMs } from '@backlot/contract/limits'
import { Type } from '@sinclair/typebox'
import { act, answer } from '../action/act.ts'
import type { Evidence } from '../action/evidence.ts'
import { guardFocus } from '../action/pointing.ts'
import { windowOrFrontmost } from '../action/target.ts'
import { defaultLimits, readTree } from '../observation/trees.ts'
import { pid, windowId } from '../tool/arguments.ts'
import { acts, tool } from '../tool/tool.ts'

export const invokeMenu = tool({
  name: 'invoke_menu',
  title: 'Choose a menu item',
  description:
    'Chooses an item of the menu bar or a menu button by its path, the menu staying closed. A wrong path is answered with what is there.',
  arguments: Type.Object({
    pid,
    window_id: Type.Optional(windowId),
    path: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: 16,
      description: 'From the menu bar down, as ["File", "Save As…"].',
    }),
  }),
  attributes: { ...acts('accessibility'), extension: true },
  async run(call, args) {
    const window = await windowOrFrontmost(call, args.pid, args.window_id)
    const snapshot = await readTree(call, window, defaultLimits)
    let path = args.path
    const action = await act(call, { window }, async (): Promise<Evidence[]> => {
      const chosen = await guardFocus(call, window, () => snapshot.invokeMenu(args.path, accessibleActionTimeoutMs))
      path = chosen.path
      const accepted: Evidence = { kind: 'ax_action', detail: `the toolkit accepted "${chosen.action}"` }
      return chosen.value === null
        ? [accepted]
        : [accepted, { kind: 'state_changed', detail: `the item is now ${chosen.value}` }]
    })
    const summary = `✅ Chose ${path.map((name) => `"${name}"`).join(' > ')}.`
    return answer(summary, action, { path, route: 'accessibility' })
  },
})
