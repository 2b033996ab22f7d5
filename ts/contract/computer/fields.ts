/** Fields that several commands take. */
import { Type } from '@sinclair/typebox'
import { choice } from '../fields/choice.ts'

const coordinate = (what: string) =>
  Type.Number({ minimum: -32_768, maximum: 32_767, description: `${what}, in screen pixels.` })

/** Across and down from the top left of the screen. */
export const x = coordinate('Across from the left')
export const y = coordinate('Down from the top')

/** A place that may be left out: the pointer then stays where it is. */
export const maybeAt = { x: Type.Optional(x), y: Type.Optional(y) }

/** A button of the pointer. */
export const button = Type.Optional(choice(['left', 'middle', 'right'], { description: 'Button; `left` when absent.' }))

/** Modifiers that are held meanwhile. */
export const modifiers = Type.Optional(
  Type.Array(Type.String(), { maxItems: 8, description: 'Keys held meanwhile, such as `ctrl`.' }),
)

/** A path in the computer. */
export const path = Type.String({
  minLength: 1,
  maxLength: 4_096,
  description: 'Path of a file or folder; `~` is the home folder, a relative one counts from there.',
})

/** A key by name. */
export const key = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'Name of a key, as X11, browsers or people call it, in any case: `Return`, `enter`, `page_down`, `a`.',
})

/** The parameters of a command that takes none. */
export const none = Type.Object({})

/** The result of a command that tells nothing but its success. */
export const done = Type.Object({})

/** A rectangle of the screen, in pixels. */
export const bounds = Type.Object({
  x: Type.Number(),
  y: Type.Number(),
  width: Type.Number(),
  height: Type.Number(),
})
