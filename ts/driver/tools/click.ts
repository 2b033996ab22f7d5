/** Clicking: on an element through the toolkit, or at a point with the agent's own pointer. */

import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import type { Point, Window } from '@backlot/native'
import { type Static, Type } from '@sinclair/typebox'
import { buttons, clickAt, clickMiddle, performAction, screenshotPoints } from '../action/pointing.ts'
import { elementOf, refuseDisabled, requireOneTarget } from '../action/target.ts'
import type { Call } from '../context.ts'
import { zoomPoints } from '../observation/zoom-points.ts'
import { absolutePath, writePicture } from '../paths.ts'
import { coordinate, elementIndex, modifiers, pid, windowId } from '../tool/arguments.ts'
import { acts, tool } from '../tool/tool.ts'

/** The actions of elements, and how many clicks on its middle stand for one that the element lacks. */
const clicksFor = { press: 1, show_menu: 0, pick: 1, confirm: 0, cancel: 0, open: 2 } as const

const actions = Object.keys(clicksFor) as (keyof typeof clicksFor)[]

const clickArguments = Type.Object({
  pid,
  element_index: Type.Optional(elementIndex),
  window_id: Type.Optional(windowId),
  x: Type.Optional(coordinate('X')),
  y: Type.Optional(coordinate('Y')),
  action: Type.Optional(choice(actions, { description: 'Of the element; default press.' })),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 3, description: 'Clicks at x, y; default 1.' })),
  modifier: Type.Optional(modifiers),
  button: Type.Optional(choice(buttons, { more: 'Default left.', extension: true })),
  from_zoom: Type.Optional(Type.Boolean({ description: "Points are pixels of this pid's last zoom picture." })),
  debug_image_out: Type.Optional(
    Type.String({ minLength: 1, description: 'Write a PNG with a red crosshair at x, y.', more: 'Needs window_id.' }),
  ),
})

type Arguments = Static<typeof clickArguments>

export const click = tool({
  name: 'click',
  title: 'Click',
  description:
    "Left-clicks. Prefer element_index with window_id, which works on hidden windows too; else x and y, pixels of the window's latest screenshot.",
  arguments: clickArguments,
  attributes: { ...acts('accessibility'), clicks: true, writes: ['debug_image_out'] },
  async run(call, args) {
    refuseMixture(args)
    const debugImage = args.debug_image_out && absolutePath('debug_image_out', args.debug_image_out)
    const { modifier: held = [], button = 'left' } = args
    const { checkModifiers } = await call.driver.native()
    checkModifiers(held)
    const found = await elementOf(call, args)
    if (found !== undefined) {
      refuseDisabled(found.target)
      if (held.length > 0 || button !== 'left') return clickMiddle(call, found, { button, count: 1, held })
      const action = args.action ?? 'press'
      const count = clicksFor[action]
      return performAction(call, found, action, count === 0 ? undefined : { button, count, held })
    }
    const { window, pointAt } = await (args.from_zoom ? zoomPoints : screenshotPoints)(call, args)
    const point = pointAt(args.x ?? 0, args.y ?? 0)
    if (debugImage !== undefined) await writeMarked(call, window, point, debugImage)
    const clicks = { button, count: args.count ?? 1, held }
    const clicked = await clickAt(call, { window }, point, clicks, `(${args.x}, ${args.y})`)
    if (debugImage === undefined) return clicked
    const { text, structured } = clicked
    return { text: `${text} Crosshair in ${debugImage}.`, structured: { ...structured, debug_image_path: debugImage } }
  },
})

/** Writes the window's picture as it is before the click, with a crosshair where the click goes. */
const writeMarked = async (call: Call, { window_id }: Window, point: Point, path: string): Promise<void> => {
  const { max_image_dimension } = await call.config()
  const { png } = await (await call.driver.capturer()).marked(window_id, point, max_image_dimension)
  await writePicture(path, png)
}

const refuseMixture = (args: Arguments): void => {
  const { element_index, action, button, count, window_id, from_zoom, debug_image_out } = args
  const refuse = (argument: string, message: string) => new Failure('invalid_argument', message, { argument })
  requireOneTarget('click', args)
  if (element_index === undefined && action !== undefined) {
    throw refuse('action', 'Argument "action" needs element_index: a point has no actions. Leave it out.')
  }
  if (action !== undefined && button !== undefined && button !== 'left') {
    throw refuse('button', 'Argument "button" and "action" exclude each other: a button is pressed on pixels.')
  }
  if (element_index !== undefined && (from_zoom || debug_image_out !== undefined)) {
    const argument = from_zoom ? 'from_zoom' : 'debug_image_out'
    throw refuse(argument, `Argument "${argument}" needs x and y: it is about a point. Leave it out.`)
  }
  if (debug_image_out !== undefined && from_zoom) {
    throw refuse('debug_image_out', 'debug_image_out and from_zoom cannot be used together. Leave one of them out.')
  }
  if (debug_image_out !== undefined && window_id === undefined) {
    throw new Failure('missing_argument', 'window_id is required when debug_image_out is used.', {
      argument: 'window_id',
    })
  }
  if (element_index !== undefined && count !== undefined && count !== 1) {
    throw refuse('count', `Argument "count" needs x and y: an element's action is done once. Leave it out.`)
  }
}
