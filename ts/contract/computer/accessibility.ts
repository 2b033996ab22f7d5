/** Commands that read the accessibility tree. */
import { Type } from '@sinclair/typebox'
import { command } from './command.ts'
import { bounds, none } from './fields.ts'

/** An element of the tree; `children` hold elements of the same shape. */
export const Element = Type.Object({
  role: Type.String(),
  title: Type.String({ description: 'The name that it shows; may be empty.' }),
  value: Type.Union([Type.String(), Type.Null()]),
  enabled: Type.Boolean(),
  position: Type.Object({ x: Type.Number(), y: Type.Number() }, { description: 'Screen pixels.' }),
  size: Type.Object({ width: Type.Number(), height: Type.Number() }),
  bounds,
  actions: Type.Array(Type.String()),
  children: Type.Array(Type.Unknown()),
})

export const accessibilityCommands = {
  get_accessibility_tree: command({
    summary: 'Read the accessibility tree of everything on the screen.',
    params: none,
    result: Type.Object({
      tree: Element,
      truncated: Type.Boolean({ description: 'True where an application did not answer or had more than is read.' }),
    }),
    needs: 'accessibility',
    flat: 'tree',
  }),
  find_element: command({
    summary: 'Find an element by its role, title or value; texts match in part and in any case.',
    params: Type.Object({
      role: Type.Optional(Type.String({ minLength: 1 })),
      title: Type.Optional(Type.String({ minLength: 1 })),
      value: Type.Optional(Type.String({ minLength: 1 })),
    }),
    result: Type.Object({
      element: Element,
      count: Type.Integer({ description: 'How many match.' }),
    }),
    needs: 'accessibility',
    flat: 'element',
  }),
} as const
