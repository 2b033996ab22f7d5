/** The pointer's other gestures: double click, right click, drag. */

import { choice } from '@backlot/contract/fields/choice'
import type { Agent } from '@backlot/native'
import { Type } from '@sinclair/typebox'
import { act, answer, deliver } from '../action/act.ts'
import { buttons, clickAt, clickMiddle, performAction, screenshotPoints } from '../action/pointing.ts'
import { clickArea, elementOf, refuseDisabled, refuseInvisible, requireOneTarget } from '../action/target.ts'
import { zoomPoints } from '../observation/zoom-points.ts'
import { coordinate, elementIndex, modifiers, pid, windowId } from '../tool/arguments.ts'
import { acts, tool } from '../tool/tool.ts'

/** A drag, as long as the call does not say otherwise, and at most. */
const limits = { durationMs: 500, steps: 20, longestMs: 10_000, mostSteps: 1_000 } as const

export const doubleClick = tool({
  name: 'double_click',
  title: 'Double-click',
  description: 'Opens an element through its open action, else double-clicks its middle; or double-clicks x, y.',
  arguments: Type.Object({
    pid,
    element_index: Type.Optional(elementIndex),
    window_id: Type.Optional(windowId),
    x: Type.Optional(coordinate('X')),
    y: Type.Optional(coordinate('Y')),
  }),
  attributes: { ...acts('accessibility'), clicks: true },
  async run(call, args) {
    requireOneTarget('double_click', args)
    const twice = { button: 'left', count: 2, held: [] } as const
    const found = await elementOf(call, args)
    if (found !== undefined) {
      refuseDisabled(found.target)
      return performAction(call, found, 'open', twice)
    }
    const { window, pointAt } = await screenshotPoints(call, args)
    return clickAt(call, { window }, pointAt(args.x ?? 0, args.y ?? 0), twice, `(${args.x}, ${args.y})`)
  },
})

export const rightClick = tool({
  name: 'right_click',
  title: 'Right-click',
  description: 'Shows the menu of an element, or right-clicks x, y. The menu is a window of its own: see list_windows.',
  arguments: Type.Object({
    pid,
    element_index: Type.Optional(elementIndex),
    window_id: Type.Optional(windowId),
    x: Type.Optional(coordinate('X')),
    y: Type.Optional(coordinate('Y')),
    modifier: Type.Optional(modifiers),
  }),
  attributes: { ...acts('accessibility'), clicks: true },
  async run(call, args) {
    requireOneTarget('right_click', args)
    const held = args.modifier ?? []
    const { checkModifiers } = await call.driver.native()
    checkModifiers([...held])
    const once = { button: 'right', count: 1, held } as const
    const found = await elementOf(call, args)
    if (found !== undefined) {
      refuseDisabled(found.target)
      return held.length > 0 ? clickMiddle(call, found, once) : performAction(call, found, 'show_menu', once)
    }
    const { window, pointAt } = await screenshotPoints(call, args)
    return clickAt(call, { window }, pointAt(args.x ?? 0, args.y ?? 0), once, `(${args.x}, ${args.y})`)
  },
})

export const drag = tool({
  name: 'drag',
  title: 'Drag',
  description:
    "Holds a button from one point of the window's latest screenshot to another: sliders, selections, splitters, drawing.",
  arguments: Type.Object({
    pid,
    from_x: coordinate('Start X'),
    from_y: coordinate('Start Y'),
    to_x: coordinate('End X'),
    to_y: coordinate('End Y'),
    button: Type.Optional(choice(buttons, { default: 'left' })),
    duration_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.longestMs, default: limits.durationMs })),
    steps: Type.Optional(
      Type.Integer({ minimum: 1, maximum: limits.mostSteps, default: limits.steps, more: 'Motions between.' }),
    ),
    modifier: Type.Optional(modifiers),
    from_zoom: Type.Optional(Type.Boolean({ description: "Points are pixels of this pid's last zoom picture." })),
    window_id: Type.Optional(windowId),
  }),
  attributes: acts(),
  async run(call, args) {
    const held = args.modifier ?? []
    const { checkModifiers } = await call.driver.native()
    checkModifiers([...held])
    const { window, pointAt } = await (args.from_zoom ? zoomPoints : screenshotPoints)(call, args)
    const [from, to] = [pointAt(args.from_x, args.from_y), pointAt(args.to_x, args.to_y)]
    refuseInvisible(window)
    const { window_id } = window
    const { button = 'left', duration_ms = limits.durationMs, steps = limits.steps } = args
    const request = { window_id, from, to, button, duration_ms, steps, modifiers: [...held] }
    const context = { window, place: spanning(from, to), point: from, dragEnd: to }
    const drag = (agent: Agent) => {
      call.driver.cursors.followDrag(call.owner, context, duration_ms)
      return agent.drag(request)
    }
    const action = await act(call, context, () => deliver(call, drag))
    const path = `(${args.from_x}, ${args.from_y}) to (${args.to_x}, ${args.to_y})`
    return answer(`✅ Dragged from ${path}.`, action, { from, to, button, route: 'agent_pointer' })
  },
})

type Place = ReturnType<typeof clickArea>

/** The rectangle in which a drag's effect shows. */
const spanning = (from: Parameters<typeof clickArea>[0], to: Parameters<typeof clickArea>[0]): Place => {
  const [a, b] = [clickArea(from), clickArea(to)]
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)]
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  }
}
