/** Whether two views of a window differ as a scroll makes them differ. */
import type { AxFrame } from '@backlot/native'

/** Which way the view goes. */
export type Direction = 'up' | 'down' | 'left' | 'right'

/** What a window shows. */
export interface Places {
  /** Frames of the elements by token, in screen pixels. */
  readonly frames: ReadonlyMap<string, AxFrame>
  /** The values of scroll bars. */
  readonly bars: string
}

/**
 * True when the second view is the first one scrolled, false when it is the same, null when it differs in another way:
 * elements that come, go or grow do so in a window that is still being filled, too. Where the application `rested` before
 * and elements only came or went it is `replaced`: a list shows other rows at the same places, if its pixels changed.
 */
export const hasScrolled = (
  was: Places,
  is: Places,
  direction: Direction,
  rested: boolean,
): boolean | 'replaced' | null => {
  if (was.bars !== is.bars && rested) return true
  const shared = [...was.frames].flatMap(([token, before]) => {
    const now = is.frames.get(token)
    return now === undefined ? [] : [{ before, now }]
  })
  const ways = new Set(shared.map(({ before, now }) => JSON.stringify([now.x - before.x, now.y - before.y])))
  const isSame = shared.length === was.frames.size && shared.length === is.frames.size
  if (isSame && ways.size <= 1 && (ways.size === 0 || ways.has('[0,0]'))) return was.bars === is.bars ? false : null
  const alike = shared.filter(({ before, now }) => before.w === now.w && before.h === now.h)
  const scrolled = alike.filter(({ before, now }) => isScrolled(before, now, direction))
  const strayed = alike.filter(({ before, now }) => !isScrolled(before, now, direction) && !isAt(before, now))
  if (scrolled.length > 0 && (rested || strayed.length === 0)) return true
  return rested && strayed.length === 0 ? 'replaced' : null
}

const isAt = (a: AxFrame, b: AxFrame): boolean => a.x === b.x && a.y === b.y

/** True for what went against the direction of the view, and not sideways. */
const isScrolled = (before: AxFrame, now: AxFrame, direction: Direction): boolean => {
  const [x, y] = [now.x - before.x, now.y - before.y]
  const along = { up: y, down: -y, left: x, right: -x }[direction]
  return along > 0 && (direction === 'up' || direction === 'down' ? x : y) === 0
}
