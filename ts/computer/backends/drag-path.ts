/** The way of a drag, as its parameters tell it. */
import { Failure } from '@backlot/contract/failure'

/** Where it goes: a path, or its two ends. */
interface DragParams {
  readonly path?: number[][]
  readonly start_x?: number
  readonly start_y?: number
  readonly end_x?: number
  readonly end_y?: number
}

/** Two places at least, in whole pixels. Throws `invalid_argument` and `missing_argument`. */
export const dragPath = ({ path, start_x, start_y, end_x, end_y }: DragParams): [x: number, y: number][] => {
  if (path !== undefined && path.length >= 2) return path.map(([x = 0, y = 0]) => [Math.round(x), Math.round(y)])
  if (path !== undefined) {
    throw new Failure('invalid_argument', '"path" must hold two places at least: where the drag begins and ends.', {
      argument: 'path',
    })
  }
  const ends = { start_x, start_y, end_x, end_y }
  const missing = Object.entries(ends).find(([, value]) => value === undefined)?.[0]
  if (missing !== undefined) {
    const text = `"${missing}" is missing: give "path", or all of ${Object.keys(ends).join(', ')}.`
    throw new Failure('missing_argument', text, { argument: missing })
  }
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = Object.values(ends).map((value) => Math.round(value ?? 0))
  return [
    [x1, y1],
    [x2, y2],
  ]
}
