/** Single keys and combinations, through the agent's own keyboard. */
import { Type } from '@sinclair/typebox'
import { pressOnce } from '../action/pressing.ts'
import { elementIndex, modifiers, pid, windowId } from '../tool/arguments.ts'
import { acts, tool } from '../tool/tool.ts'

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
  attributes: { ...acts(), presses: ['key'] },
  async run(call, args) {
    const held = args.modifiers ?? []
    const { checkKey, checkModifiers } = await call.driver.native()
    checkKey(args.key)
    checkModifiers(held)
    return pressOnce(call, args, { key: args.key, modifiers: held })
  },
})

export const hotkey = tool({
  name: 'hotkey',
  title: 'Press a key combination',
  description: 'Presses a combination such as ["ctrl", "s"] in a window that need not be in front.',
  arguments: Type.Object({
    keys: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: 9,
      description: 'Modifiers first (cmd/command, shift, option/alt, ctrl/control), exactly one other key last.',
    }),
    pid,
    window_id: Type.Optional(windowId),
  }),
  attributes: { ...acts(), presses: ['keys'] },
  async run(call, args) {
    const { checkCombination } = await call.driver.native()
    return pressOnce(call, args, checkCombination([...args.keys]))
  },
})
