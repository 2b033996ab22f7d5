/** Clicking: on an element through the toolkit, or at a point with the agent's own pointer. */
import { choice } from '@backlot/contract/choice'
import { Failure } from '@backlot/contract/failure'
import { accessibleActionTimeoutMs } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import { type Static, Type } from '@sinclair/typebox'
import { coordinate, elementIndex, modifiers, pid, windowId } from '../arguments.ts'
import type { Call } from '../context.ts'
import type { SeenElement } from '../elements.ts'
import { acted, personAfter, watch } from '../evidence.ts'
import { absolutePath, writePicture } from '../paths.ts'
import {
  around,
  centreOf,
  contains,
  elementOf,
  nameOf,
  type Point,
  pointIn,
  refuseDisabled,
  refuseInvisible,
  unlessGone,
  windowOrFrontmost,
} from '../target.ts'
import { acts, type Outcome, tool } from '../tool.ts'
import type { Evidence } from '../witnesses.ts'
import { lastZoom } from '../zoomed.ts'

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
  from_zoom: Type.Optional(Type.Boolean({ description: "x and y are pixels of this pid's last zoom picture." })),
  debug_image_out: Type.Optional(
    Type.String({ minLength: 1, description: 'Write a PNG with a red crosshair at x, y there; needs window_id.' }),
  ),
})

type Arguments = Static<typeof clickArguments>

export const click = tool({
  name: 'click',
  title: 'Click',
  description:
    'Left-clicks in the background. Prefer element_index with window_id, which works on hidden windows too; else x and y.',
  arguments: clickArguments,
  attributes: { ...acts('accessibility'), writes: ['debug_image_out'] },
  async run(call, args) {
    refuseMixture(args)
    const debugImage = args.debug_image_out && absolutePath('debug_image_out', args.debug_image_out)
    const held = args.modifier ?? []
    const { checkModifiers } = await call.driver.native()
    checkModifiers(held)
    const found = await elementOf(call, args)
    if (found !== undefined) {
      refuseDisabled(found.target)
      return held.length > 0 ? clickMiddle(call, found, 1, held, []) : operate(call, found, args.action ?? 'press')
    }
    const { window, pointAt } = await (args.from_zoom ? lastZoom : lastPicture)(call, args)
    const point = pointAt(args.x ?? 0, args.y ?? 0)
    if (debugImage !== undefined) await writeMarked(call, window, point, debugImage)
    const clicked = await clickAt(call, { window }, point, args.count ?? 1, held, `(${args.x}, ${args.y})`)
    if (debugImage === undefined) return clicked
    const { text, structured } = clicked
    return { text: `${text} Crosshair in ${debugImage}.`, structured: { ...structured, debug_image_path: debugImage } }
  },
})

/** The window of an action and what turns a point of its latest picture into window pixels. */
const lastPicture = async (call: Call, { pid, window_id }: { pid: number; window_id?: number }) => {
  const window = await windowOrFrontmost(call, pid, window_id)
  return { window, pointAt: (x: number, y: number): Point => pointIn(call, window, x, y) }
}

/** Writes the window's picture as it is before the click, with a crosshair where the click goes. */
const writeMarked = async (call: Call, { window_id }: Window, point: Point, path: string): Promise<void> => {
  const { max_image_dimension } = await call.driver.config.read()
  const { png } = await (await call.driver.capturer()).marked(window_id, point, max_image_dimension)
  await writePicture(path, png)
}

const refuseMixture = (args: Arguments): void => {
  const { element_index, x, y, action, count, window_id, from_zoom, debug_image_out } = args
  const refuse = (argument: string, message: string) => new Failure('invalid_argument', message, { argument })
  if ((x === undefined) !== (y === undefined)) {
    throw refuse(x === undefined ? 'x' : 'y', 'Provide both x and y together, not just one.')
  }
  if (element_index !== undefined && x !== undefined) {
    throw new Failure('target_ambiguous', 'Provide element_index or x and y, not both: they may mean different places.')
  }
  if (element_index === undefined && x === undefined) {
    throw new Failure(
      'target_required',
      'click needs a target: element_index with window_id, or x and y. Call get_window_state to find one.',
    )
  }
  if (element_index === undefined && action !== undefined) {
    throw refuse('action', 'Argument "action" needs element_index: a point has no actions. Leave it out.')
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

type Found = { readonly window: Window; readonly target: SeenElement }

const operate = async (call: Call, found: Found, action: keyof typeof clicksFor): Promise<Outcome> => {
  const { window, target } = found
  let done = ''
  try {
    const evidence = await watch(call, { ...found, place: frameOf(target) }, async () => {
      const asked = target.snapshot.perform(target.index, action, accessibleActionTimeoutMs)
      done = await unlessGone(window, target.index, asked)
      return [{ kind: 'ax_action', detail: `the toolkit accepted "${done}"` }]
    })
    return acted(`✅ ${nameOf(target)}: did "${done}".`, evidence, {
      pid: window.pid,
      window_id: window.window_id,
      element_index: target.index,
      action: done,
      route: 'accessibility',
    })
  } catch (error) {
    const failure = Failure.from(error)
    const clicks = clicksFor[action]
    if (failure.code !== 'action_not_supported' || clicks === 0) throw failure
    return clickMiddle(call, found, clicks, [], [`accessibility action "${action}"`])
  }
}

const clickMiddle = (
  call: Call,
  found: Found,
  count: number,
  held: readonly string[],
  tried: readonly string[],
): Promise<Outcome> => {
  const { window, target } = found
  const point = centreOf(target)
  if (window.is_on_screen && contains(window, point)) return clickAt(call, found, point, count, held, nameOf(target))
  const routes = [...tried, `click on its middle (${point.x}, ${point.y})`]
  throw new Failure(
    'window_not_visible',
    `${nameOf(target)} cannot be reached; tried: ${routes.join(', ')}, which is not on the screen. Scroll it into view or make the window visible.`,
    { window_id: window.window_id, element_index: target.index, tried: routes },
  )
}

const clickAt = async (
  call: Call,
  scene: { readonly window: Window; readonly target?: SeenElement },
  point: Point,
  count: number,
  held: readonly string[],
  where: string,
): Promise<Outcome> => {
  const { window, target } = scene
  refuseInvisible(window)
  const { window_id } = window
  const evidence = await watch(
    call,
    { ...scene, place: around(point) },
    async (): Promise<Evidence[]> => [
      personAfter(
        await call.gesture((agent) =>
          agent.click({ window_id, ...point, button: 'left', count, modifiers: [...held] }),
        ),
      ),
    ],
  )
  return acted(`✅ Clicked ${where}${count > 1 ? ` ${count} times` : ''}.`, evidence, {
    pid: window.pid,
    window_id,
    ...(target && { element_index: target.index }),
    ...point,
    route: 'agent_pointer',
  })
}

const frameOf = ({ element: { frame } }: SeenElement) => ({ x: frame.x, y: frame.y, width: frame.w, height: frame.h })
