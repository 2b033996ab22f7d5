/** Scrolling: by keys as a keyboard would, or with the agent's own wheel at a point. */

import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { scroll as limits } from '@backlot/contract/limits'
import { type Static, Type } from '@sinclair/typebox'
import { act, answer, deliver } from '../action/act.ts'
import { bringIntoView, visiblePart } from '../action/into-view.ts'
import { beforeScroll } from '../action/moved.ts'
import { screenshotPoints } from '../action/pointing.ts'
import { press } from '../action/pressing.ts'
import {
  centreOf,
  clickArea,
  contains,
  middleOf,
  namedElement,
  nameOf,
  refuseInvisible,
  requireOneTarget,
  windowOrFrontmost,
} from '../action/target.ts'
import type { Call } from '../context.ts'
import { coordinate, elementIndex, pid, windowId } from '../tool/arguments.ts'
import { acts, type Outcome, tool } from '../tool/tool.ts'

const directions = ['up', 'down', 'left', 'right'] as const

const keysBy = {
  line: { up: 'up', down: 'down', left: 'left', right: 'right' },
  page: { up: 'pageup', down: 'pagedown', left: 'left', right: 'right' },
} as const

const scrollArguments = Type.Object({
  pid,
  direction: choice(directions),
  by: Type.Optional(choice(['line', 'page'], { default: 'line' })),
  amount: Type.Optional(
    Type.Integer({ minimum: 1, maximum: limits.most, default: limits.amount, description: 'Keys, or wheel detents.' }),
  ),
  element_index: Type.Optional(elementIndex),
  window_id: Type.Optional(windowId),
  mode: Type.Optional(
    choice(['keys', 'wheel'], { default: 'keys', description: 'wheel: at the element or x, y.', extension: true }),
  ),
  x: Type.Optional(coordinate('Wheel X', { extension: true })),
  y: Type.Optional(coordinate('Wheel Y', { extension: true })),
})

type Arguments = Static<typeof scrollArguments>

export const scroll = tool({
  name: 'scroll',
  title: 'Scroll',
  description:
    'Scrolls the focus or element_index by keys, or by wheel where it takes no focus; says if anything moved. Where keys move a caret or selection, use mode "wheel".',
  arguments: scrollArguments,
  attributes: acts('accessibility'),
  async run(call, args) {
    if (args.mode === 'wheel') return turnWheel(call, args)
    try {
      return await pressKeys(call, args)
    } catch (error) {
      if (Failure.from(error).code !== 'element_not_focusable') throw error
      return turnWheel(call, args, true)
    }
  },
})

const pressKeys = async (call: Call, args: Arguments): Promise<Outcome> => {
  const { direction, by = 'line', amount = limits.amount, x, y } = args
  if (x !== undefined || y !== undefined) {
    throw new Failure('invalid_argument', 'Arguments "x" and "y" need mode "wheel": keys go to what has the focus.', {
      argument: x === undefined ? 'y' : 'x',
    })
  }
  const key = keysBy[by][direction]
  const before = await beforeScroll(call, await windowOrFrontmost(call, args.pid, args.window_id), direction)
  const pressed = await press(call, args, { key, modifiers: [], count: amount })
  const moved = await before.hasMoved(pressed)
  const where = pressed.target === undefined ? `window ${pressed.window.window_id}` : nameOf(pressed.target)
  const summary = `✅ Pressed ${key} ${amount} time(s) in ${where}.${unmovedNote(moved, direction)}`
  return answer(summary, pressed, { moved, direction, key, amount, route: 'agent_keyboard' })
}

/** What an answer says of a scroll that moved nothing. */
const unmovedNote = (moved: boolean | null, direction: string): string =>
  moved === false ? ` Nothing moved: it is at its ${ends[direction] ?? 'end'} already, or does not scroll.` : ''

const ends: Readonly<Record<string, string>> = { up: 'top', down: 'bottom', left: 'left end', right: 'right end' }

/** Turns the wheel at a place; `instead` of keys for an element that takes no focus. */
const turnWheel = async (call: Call, args: Arguments, instead = false): Promise<Outcome> => {
  const { direction } = args
  const { window, target, point, shown } = await wheelPlace(call, instead ? { ...args, by: 'line' } : args)
  refuseInvisible(window)
  const steps = args.by === 'page' ? Math.ceil((shown?.h ?? window.height) / limits.detentPixels) : 1
  const amount = Math.min(limits.most, (args.amount ?? limits.amount) * steps)
  const before = await beforeScroll(call, window, direction)
  const request = { window_id: window.window_id, ...point, direction, amount, modifiers: [] }
  const place = { ...clickArea(point), x: point.x - 96, y: point.y - 96, width: 192, height: 192 }
  const context = { window, target, place, point }
  const turned = await act(call, context, () => deliver(call, (agent) => agent.wheel(request)))
  const moved = await before.hasMoved(turned)
  const where = target === undefined ? `(${args.x}, ${args.y})` : nameOf(target)
  const why = instead ? ', which takes no focus for keys' : ''
  const summary = `✅ Turned the wheel ${direction} by ${amount} at ${where}${why}.${unmovedNote(moved, direction)}`
  return answer(summary, turned, { moved, direction, amount, ...point, route: 'agent_pointer' })
}

/** Where the wheel is turned: at the point, or in the middle of the element. */
const wheelPlace = async (call: Call, args: Arguments) => {
  const { element_index, by } = args
  if (by === 'page') {
    throw new Failure('invalid_argument', 'Argument "by" "page" needs mode "keys": a wheel has detents.', {
      argument: 'by',
    })
  }
  requireOneTarget('scroll with mode "wheel"', args)
  if (element_index === undefined) {
    const { window, pointAt } = await screenshotPoints(call, args)
    return { window, target: undefined, point: pointAt(args.x ?? 0, args.y ?? 0), shown: undefined }
  }
  const found = await namedElement(call, { ...args, element_index })
  refuseInvisible(found.window)
  // Of what is larger than its window the part in view will do.
  const part = await visiblePart(call, found)
  if (part !== undefined) return { ...found, point: middleOf(part), shown: part }
  const reached = await bringIntoView(call, found)
  const point = centreOf(reached.target)
  if (contains(reached.window, point)) return { ...reached, point, shown: reached.target.element.frame }
  const tried = [`wheel at its middle (${point.x}, ${point.y})`]
  throw new Failure(
    'window_not_visible',
    `${nameOf(found.target)} cannot be reached; tried: ${tried.join(', ')}, which is not in the window. Scroll at x and y of what can be seen.`,
    { window_id: found.window.window_id, element_index: found.target.index, tried },
  )
}
