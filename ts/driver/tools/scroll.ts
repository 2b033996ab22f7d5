/** Scrolling: by keys as a keyboard would, or with the agent's own wheel at a point. */
import { choice } from '@backlot/contract/choice'
import { Failure } from '@backlot/contract/failure'
import { scroll as limits } from '@backlot/contract/limits'
import { type Static, Type } from '@sinclair/typebox'
import { coordinate, elementIndex, pid, windowId } from '../arguments.ts'
import type { Call } from '../context.ts'
import { acted, afterGesture, watch } from '../evidence.ts'
import { lastPicture } from '../pointing.ts'
import { press } from '../pressing.ts'
import { around, centreOf, contains, elementOf, nameOf, refuseInvisible } from '../target.ts'
import { acts, type Outcome, tool } from '../tool.ts'

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
    'Scrolls what has the focus, or the element of element_index, by arrow or page keys. Where keys move a caret or a selection instead, use mode "wheel".',
  arguments: scrollArguments,
  attributes: acts('accessibility'),
  run: (call, args) => (args.mode === 'wheel' ? turnWheel(call, args) : pressKeys(call, args)),
})

const pressKeys = async (call: Call, args: Arguments): Promise<Outcome> => {
  const { direction, by = 'line', amount = limits.amount, x, y } = args
  if (x !== undefined || y !== undefined) {
    throw new Failure('invalid_argument', 'Arguments "x" and "y" need mode "wheel": keys go to what has the focus.', {
      argument: x === undefined ? 'y' : 'x',
    })
  }
  const key = keysBy[by][direction]
  const { window, target, evidence } = await press(call, args, { key, modifiers: [], count: amount })
  const where = target === undefined ? `window ${window.window_id}` : nameOf(target)
  return acted(`✅ Scrolled ${direction} in ${where}: pressed ${key} ${amount} time(s).`, evidence, {
    pid: window.pid,
    window_id: window.window_id,
    ...(target && { element_index: target.index }),
    direction,
    key,
    amount,
    route: 'agent_keyboard',
  })
}

const turnWheel = async (call: Call, args: Arguments): Promise<Outcome> => {
  const { direction, amount = limits.amount } = args
  const { window, target, point } = await wheelPlace(call, args)
  refuseInvisible(window)
  const { window_id } = window
  const request = { window_id, ...point, direction, amount, modifiers: [] }
  const place = { ...around(point), x: point.x - 96, y: point.y - 96, width: 192, height: 192 }
  const evidence = await watch(call, { window, target, place, point }, async () => [
    ...afterGesture(await call.gesture((agent) => agent.wheel(request))),
  ])
  const where = target === undefined ? `(${args.x}, ${args.y})` : nameOf(target)
  return acted(`✅ Turned the wheel ${direction} by ${amount} at ${where}.`, evidence, {
    pid: window.pid,
    window_id,
    ...(target && { element_index: target.index }),
    direction,
    amount,
    ...point,
    route: 'agent_pointer',
  })
}

/** Where the wheel is turned: at the point, or in the middle of the element. */
const wheelPlace = async (call: Call, args: Arguments) => {
  const { element_index, x, y, by } = args
  if (by === 'page') {
    throw new Failure('invalid_argument', 'Argument "by" "page" needs mode "keys": a wheel has detents.', {
      argument: 'by',
    })
  }
  if ((x === undefined) !== (y === undefined)) {
    throw new Failure('invalid_argument', 'Provide both x and y together, not just one.', {
      argument: x === undefined ? 'x' : 'y',
    })
  }
  if (x !== undefined && element_index !== undefined) {
    throw new Failure('target_ambiguous', 'Provide element_index or x and y, not both: they may mean different places.')
  }
  if (x !== undefined && y !== undefined) {
    const { window, pointAt } = await lastPicture(call, args)
    return { window, target: undefined, point: pointAt(x, y) }
  }
  const found = await elementOf(call, args)
  if (found === undefined) {
    throw new Failure(
      'target_required',
      'scroll with mode "wheel" needs a target: element_index with window_id, or x and y. Call get_window_state to find one.',
    )
  }
  const point = centreOf(found.target)
  if (contains(found.window, point)) return { ...found, point }
  const tried = [`wheel at its middle (${point.x}, ${point.y})`]
  throw new Failure(
    'window_not_visible',
    `${nameOf(found.target)} cannot be reached; tried: ${tried.join(', ')}, which is not in the window. Scroll at x and y of what can be seen.`,
    { window_id: found.window.window_id, element_index: found.target.index, tried },
  )
}
