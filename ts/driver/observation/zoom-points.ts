/** Points of a zoom picture as places in its window. */
import { Failure } from '@backlot/contract/failure'
import type { Point, Window } from '@backlot/native'
import { contains, windowOf } from '../action/target.ts'
import { type Call, viewersOf } from '../context.ts'
import type { Zoom } from './zoomed.ts'

/**
 * The window of the last zoom picture of a process that the caller was given, and what turns a point of that picture into
 * window pixels; for `from_zoom`. Throws `zoom_required` when there is none, and `point_outside_window` for a point beyond the picture.
 */
export const zoomPoints = async (
  call: Call,
  { pid, window_id }: { readonly pid: number; readonly window_id?: number },
): Promise<{ readonly window: Window; readonly pointAt: (x: number, y: number) => Point }> => {
  const zoom = call.driver.zoomed.of(viewersOf(call), pid)
  if (zoom === undefined) {
    throw new Failure('zoom_required', `from_zoom=true but no zoom context for pid ${pid}. Call zoom first.`, { pid })
  }
  if (window_id !== undefined && window_id !== zoom.window_id) {
    throw new Failure(
      'zoom_required',
      `The last zoom of pid ${pid} showed window ${zoom.window_id}, not window ${window_id}. Call zoom for window ${window_id} first, or leave window_id out.`,
      { pid, window_id, zoomed_window_id: zoom.window_id },
    )
  }
  const window = await windowOf(call, pid, zoom.window_id)
  return { window, pointAt: (x, y) => fromZoom(zoom, window, x, y) }
}

/** A point of a zoom picture in window pixels. */
export const fromZoom = (zoom: Zoom, window: Pick<Window, 'width' | 'height'>, x: number, y: number): Point => {
  const { region, width, height, window_id } = zoom
  const point = {
    x: region.x + Math.floor((x * region.width) / width),
    y: region.y + Math.floor((y * region.height) / height),
  }
  if (x >= 0 && y >= 0 && x < width && y < height && contains(window, point)) return point
  throw new Failure(
    'point_outside_window',
    `(${x}, ${y}) lies outside the last zoom picture, ${width}x${height}, or outside window ${window_id} as it is now. Pass x from 0 to ${width - 1} and y from 0 to ${height - 1}, or call zoom again.`,
    { window_id, x, y, width, height },
  )
}
