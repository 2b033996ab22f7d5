/** Single keys, through the agent's own keyboard. */
import { Type } from '@sinclair/typebox'
import { elementIndex, modifiers, pid, windowId } from '../arguments.ts'
import { acted, personAfter, watch } from '../evidence.ts'
import { focusForKeys } from '../focus.ts'
import { elementOf, refuseInvisible, windowOrFrontmost } from '../target.ts'
import { acts, tool } from '../tool.ts'

export const pressKey = tool({
  name: 'press_key',
  title: 'Press a key',
  description:
    'Presses one key in a window without activating it. With element_index that element is focused first. For text use type_text.',
  arguments: Type.Object({
    pid,
    key: Type.String({
      minLength: 1,
      description:
        'return, tab, escape, up, down, left, right, space, delete, home, end, pageup, pagedown, f1 to f12, a letter or digit.',
    }),
    modifiers: Type.Optional(modifiers),
    element_index: Type.Optional(elementIndex),
    window_id: Type.Optional(windowId),
  }),
  attributes: acts(),
  async run(call, args) {
    const held = args.modifiers ?? []
    const { checkKey, checkModifiers } = await call.driver.native()
    checkKey(args.key)
    checkModifiers(held)
    const found = await elementOf(call, args)
    const window = found?.window ?? (await windowOrFrontmost(call, args.pid, args.window_id))
    refuseInvisible(window)
    const { window_id } = window
    const focus = found && (await focusForKeys(call, found))
    const evidence = await watch(call, { window, target: focus?.target }, async () => [
      personAfter(
        await call.gesture((agent) =>
          agent.pressKey({ window_id, key: args.key, modifiers: [...held], at: focus?.at ?? null }),
        ),
      ),
    ])
    const combination = [...held, args.key].join('+')
    return acted(`✅ Pressed ${combination} in window ${window_id}.`, [...(focus?.evidence ?? []), ...evidence], {
      pid: window.pid,
      window_id,
      ...(found && { element_index: found.target.index }),
      key: args.key,
      route: 'agent_keyboard',
    })
  },
})
