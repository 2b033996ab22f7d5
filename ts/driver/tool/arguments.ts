/** Argument schemas that several tools share: each argument of that name means the same everywhere. */
import { Type } from '@sinclair/typebox'

/** Largest process id of the kernel, and of any index into a tree. */
const largest = 2_147_483_647

export const pid = Type.Integer({ minimum: 1, maximum: largest })

export const windowId = Type.Integer({ minimum: 1, maximum: 4_294_967_295, description: 'From list_windows.' })

export const elementIndex = Type.Integer({
  minimum: 0,
  maximum: largest,
  description: 'From get_window_state; needs window_id.',
})

/** Ours, as `observe` is. */
export const elementToken = Type.String({
  minLength: 1,
  description: 'Instead of element_index.',
  extension: true,
  standsFor: 'element_index',
})

/** Ours, beyond the specification: hidden with the extensions. */
export const observe = Type.Boolean({ description: 'Return what changed in the window.', extension: true })

export const coordinate = (axis: string, marks: { readonly extension?: boolean } = {}) =>
  Type.Number({ more: `${axis} in the window's latest screenshot.`, ...marks })

export const modifiers = Type.Array(Type.String(), {
  maxItems: 8,
  description: 'Held meanwhile: cmd, shift, option/alt, ctrl.',
})
