/** Where the live preview of the window that was acted on last is shown. */
import type { PreviewPlace } from '@backlot/native'

/** Pixels of a preview whose geometry is not configured. */
const usual = { width: 320, height: 200 }

/**
 * The place that a geometry means on a screen of this size, as in X: an offset that begins with a minus counts from the
 * right or the lower edge. Empty is a small one in the lower right corner.
 */
export const previewPlace = (
  geometry: string,
  screen: { readonly width: number; readonly height: number },
): PreviewPlace => {
  const [, w, h, left, top] = /^(\d+)x(\d+)(?:([+-]\d+)([+-]\d+))?$/.exec(geometry) ?? []
  if (w === undefined || h === undefined) return usual
  const [width, height] = [Math.min(Number(w), screen.width), Math.min(Number(h), screen.height)]
  if (left === undefined || top === undefined) return { width, height }
  const from = (offset: string, side: number, length: number) =>
    offset.startsWith('-') ? length - side + Number(offset) : Number(offset)
  return { width, height, position: { x: from(left, width, screen.width), y: from(top, height, screen.height) } }
}
