/** A closer look at a part of a window. */
import { Failure } from '@backlot/contract/failure'
import type { Rect, Window } from '@backlot/native'
import { Type } from '@sinclair/typebox'
import { windowById, windowOf } from '../action/target.ts'
import { type Call, viewersOf } from '../context.ts'
import { coordinate, pid, windowId } from '../tool/arguments.ts'
import { reads, tool } from '../tool/tool.ts'

export const zoom = tool({
  name: 'zoom',
  title: 'Zoom into a window',
  description:
    "A sharp JPEG, at most 500 px wide, of a region of the window's latest screenshot and 20% around it. Use it to read small text or aim: click takes its pixels with from_zoom.",
  arguments: Type.Object({
    window_id: windowId,
    x1: coordinate('Left edge'),
    y1: coordinate('Top edge'),
    x2: coordinate('Right edge'),
    y2: coordinate('Bottom edge'),
    pid: Type.Optional({ ...pid, description: 'Needed for from_zoom afterwards.' }),
  }),
  attributes: reads('screen_recording'),
  async run(call, args) {
    const { window_id } = args
    const window =
      args.pid === undefined ? await windowById(call, window_id) : await windowOf(call, args.pid, window_id)
    const region = regionIn(call, window, args)
    const { jpeg, stale, ...picture } = await (await call.driver.capturer()).zoom(window_id, region)
    const { width, height } = picture
    const zoom = { window_id, region: picture.region, width, height }
    if (args.pid !== undefined) call.driver.zoomed.keep(viewersOf(call), args.pid, zoom)
    const scale = call.driver.windowCache.scale(window.pid, window_id, viewersOf(call))
    const shown = inPicture(picture.region, scale)
    return {
      text: `✅ Zoomed window_id=${window_id} to x ${shown.x} to ${shown.x + shown.width}, y ${shown.y} to ${shown.y + shown.height}: JPEG ${width}x${height}${stale ? ', stale: the window is minimised or has not drawn what was covered' : ''}.`,
      structured: {
        window_id,
        pid: window.pid,
        width,
        height,
        mime_type: 'image/jpeg',
        format: 'jpeg',
        region: shown,
        scale: rounded(picture.scale / scale),
        stale,
      },
      image: { bytes: jpeg, mimeType: 'image/jpeg' },
    }
  },
})

interface Corners {
  readonly x1: number
  readonly y1: number
  readonly x2: number
  readonly y2: number
}

/** The part of the window between two corners given in the pixels of its latest picture. */
const regionIn = (call: Call, window: Window, { x1, y1, x2, y2 }: Corners): Rect => {
  for (const [low, high, axis] of [
    [x1, x2, 'x'],
    [y1, y2, 'y'],
  ] as const) {
    if (low >= high) {
      throw new Failure(
        'invalid_argument',
        `${axis}2 is ${high} and must be greater than ${axis}1, ${low}. Swap them.`,
        {
          argument: `${axis}2`,
        },
      )
    }
  }
  const scale = call.driver.windowCache.scale(window.pid, window.window_id, viewersOf(call))
  const along = (low: number, high: number, length: number): [start: number, length: number] => {
    const start = Math.max(0, Math.floor(low / scale))
    return [start, Math.min(length, Math.ceil(high / scale)) - start]
  }
  const [x, width] = along(x1, x2, window.width)
  const [y, height] = along(y1, y2, window.height)
  if (width > 0 && height > 0) return { x, y, width, height }
  const [right, bottom] = [Math.round(window.width * scale), Math.round(window.height * scale)]
  throw new Failure(
    'point_outside_window',
    `The region lies outside window ${window.window_id}, whose picture is ${right}x${bottom}. Choose one that lies at least partly inside.`,
    { window_id: window.window_id, x1, y1, x2, y2, width: right, height: bottom, scale },
  )
}

const inPicture = ({ x, y, width, height }: Rect, scale: number): Rect => ({
  x: rounded(x * scale),
  y: rounded(y * scale),
  width: rounded(width * scale),
  height: rounded(height * scale),
})

const rounded = (value: number): number => Math.round(value * 1000) / 1000
