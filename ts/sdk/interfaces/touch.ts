/** What fingers do, checked and worked out: nothing here reaches a device. */
import { invalidArgument } from '../errors.ts'

/** Where a finger is put down, and where it is lifted, in pixels. */
export interface Finger {
  start: [x: number, y: number]
  end: [x: number, y: number]
}

/** Fingers that a screen tells apart. */
const mostFingers = 10

/** Points, two for each finger, as fingers. Throws `invalid_argument` for an odd count, for none, and for more than ten fingers. */
export const fingersOf = (points: readonly unknown[]): Finger[] => {
  const count = points.length
  if (count % 2 === 1) {
    const text = `"fingerPaths" holds ${count} points; each finger takes two, where it starts and where it ends.`
    throw invalidArgument('fingerPaths', text)
  }
  if (count === 0 || count > 2 * mostFingers) {
    const text = `"fingerPaths" holds the points of ${count / 2} fingers; give two points for each of 1 to ${mostFingers}.`
    throw invalidArgument('fingerPaths', text)
  }
  const ends = points.map((point, at): [number, number] => {
    if (!Array.isArray(point) || point.length !== 2) {
      throw invalidArgument('fingerPaths', `"fingerPaths[${at}]" is ${shown(point)}; a point is [x, y], in pixels.`)
    }
    return [pixel(`fingerPaths[${at}][0]`, point[0]), pixel(`fingerPaths[${at}][1]`, point[1])]
  })
  return ends.flatMap((start, at) => {
    const end = ends[at + 1]
    return at % 2 === 0 && end !== undefined ? [{ start, end }] : []
  })
}

/** Steps of a gesture: those that are named, or for 0 one for each 20 ms, 5 at least. */
export const stepsIn = (durationMs: number, steps: number): number =>
  steps === 0 ? Math.max(Math.floor(durationMs / 20), 5) : steps

/** Two fingers beside a point, `spread` pixels apart at their widest and a tenth of that at their closest. */
export const pinched = (way: 'in' | 'out', cx: number, cy: number, spread = 300): [number, number][] => {
  const x = pixel('cx', cx)
  const y = pixel('cy', cy)
  const wide = pixel('spread', spread) / 2
  const close = wide / 10
  const [from, to] = way === 'in' ? [wide, close] : [close, wide]
  return [
    [x - from, y],
    [x - to, y],
    [x + from, y],
    [x + to, y],
  ]
}

/** A number of pixels. Throws `invalid_argument`. */
export const pixel = (name: string, given: unknown): number => {
  if (typeof given === 'number' && Math.abs(given) <= 32_767) return given
  throw invalidArgument(name, `"${name}" is ${shown(given)}; it takes pixels of the screen, a number.`)
}

/** A whole number, 0 or more. Throws `invalid_argument`. */
export const wholeNumber = (name: string, given: unknown, most: number): number => {
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= most) return given
  throw invalidArgument(name, `"${name}" is ${shown(given)}; it takes a whole number from 0 to ${most}.`)
}

/** Milliseconds that a touch may take. Throws `invalid_argument`. */
export const milliseconds = (name: string, given: unknown): number => wholeNumber(name, given, 60_000)

const shown = (given: unknown): string =>
  typeof given === 'number' ? String(given) : (JSON.stringify(given) ?? 'absent')
