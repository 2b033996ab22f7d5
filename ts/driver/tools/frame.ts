/** Where a window is and how large. */
import { boundsOf } from '@backlot/contract/desktop'
import { Failure } from '@backlot/contract/failure'
import type { Rect } from '@backlot/native'
import { Type } from '@sinclair/typebox'
import { answer } from '../action/act.ts'
import { windowOf } from '../action/target.ts'
import { pid, windowId } from '../tool/arguments.ts'
import { acts, tool } from '../tool/tool.ts'

const place = Type.Integer({ minimum: -32_768, maximum: 32_767 })
const length = Type.Integer({ minimum: 1, maximum: 32_767 })

export const setWindowFrame = tool({
  name: 'set_window_frame',
  title: 'Move or resize a window',
  description:
    'Places a window, as list_windows gives its bounds: screen pixels, without decorations. What is left out stays. The person sees it move.',
  arguments: Type.Object({
    pid,
    window_id: windowId,
    x: Type.Optional(place),
    y: Type.Optional(place),
    width: Type.Optional(length),
    height: Type.Optional(length),
  }),
  attributes: { ...acts(), destructive: false, idempotent: true, openWorld: false, extension: true, disturbs: true },
  async run(call, args) {
    const { x, y, width, height } = args
    const wanted = defined({ x, y, width, height })
    if (Object.keys(wanted).length === 0) {
      throw new Failure('missing_argument', 'Missing required integer field: x (or y, width, height).', {
        argument: 'x',
      })
    }
    const window = await windowOf(call, args.pid, args.window_id)
    const { window_id, title } = window
    const before = boundsOf(window)
    const bounds = boundsOf(await (await call.driver.desktop()).setFrame(window_id, wanted))
    const missed = Object.entries(wanted).filter(([side, value]) => bounds[side as keyof Rect] !== value)
    if (missed.length > 0 && isSame(bounds, before)) {
      throw new Failure(
        'window_manager_refused',
        `Window ${window_id} "${title}" stayed ${shown(bounds)}: its window manager or its program allows nothing else. Leave it where it is, or ask for another size.`,
        { window_id, bounds },
      )
    }
    const note =
      missed.length === 0 ? '' : ` It rounded ${missed.map(([side, value]) => `${side} ${value}`).join(', ')}.`
    const fact = { kind: 'window_placed', detail: `the window is ${shown(bounds)}` } as const
    const summary = `✅ Window ${window_id} "${title}" is ${shown(bounds)}.${note}`
    return answer(summary, { window, evidence: [fact] }, { bounds, exact: missed.length === 0 })
  },
})

/** A record without what is undefined. */
const defined = <Key extends string>(record: Readonly<Record<Key, number | undefined>>): Partial<Record<Key, number>> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<Record<Key, number>>

const isSame = (a: Rect, b: Rect): boolean => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height

const shown = ({ x, y, width, height }: Rect): string => `${width}x${height} at (${x}, ${y})`
