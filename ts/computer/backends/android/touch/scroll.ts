/** Scrolling a touch screen: which way a finger goes for so many notches of a wheel. */

/** A point of the screen, in pixels. */
export type ScreenPoint = readonly [x: number, y: number]

/** Pixels that one notch of a wheel scrolls. */
const notchPixels = 120

/** Pixels at each edge of the screen at which the system takes swipes for its own gestures. */
const edgePixels = 80

/** How far a scroll goes at most: a thousand notches of a page are its end. */
const mostSwipes = 40

/**
 * The swipes, each from a place to another, that scroll by notches to the right and up at a place. The finger goes the other
 * way than what is shown: to see what is above it moves down. What one swipe has no room for, more do.
 */
export const swipesOf = (
  [x, y]: ScreenPoint,
  { right, up }: { readonly right: number; readonly up: number },
  { width, height }: { readonly width: number; readonly height: number },
): (readonly [ScreenPoint, ScreenPoint])[] => {
  const along = (start: number, far: number, length: number) => swipesAlong(start, far, length)
  const across = along(x, -Math.round(right * notchPixels), width).map(
    ([from, to]) =>
      [
        [from, y],
        [to, y],
      ] as const,
  )
  const down = along(y, Math.round(up * notchPixels), height).map(
    ([from, to]) =>
      [
        [x, from],
        [x, to],
      ] as const,
  )
  return [...across, ...down]
}

const swipesAlong = (start: number, far: number, length: number): [number, number][] => {
  const [least, most] = [
    Math.min(edgePixels, Math.floor(length / 4)),
    length - Math.min(edgePixels, Math.floor(length / 4)),
  ]
  const from = Math.min(Math.max(start, least), most)
  const room = far > 0 ? most - from : from - least
  // From where there is hardly any room the finger begins at the other end.
  const begin = room >= Math.min(Math.abs(far), notchPixels) ? from : far > 0 ? least : most
  const reach = far > 0 ? most - begin : begin - least
  const swipes: [number, number][] = []
  for (let left = Math.abs(far); left > 0 && reach > 0 && swipes.length < mostSwipes; ) {
    const step = Math.min(left, reach)
    swipes.push([begin, begin + Math.sign(far) * step])
    left -= step
  }
  return swipes
}
