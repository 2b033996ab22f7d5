/** Elements of the accessibility tree. */
import type { Point, Size } from '../basics.ts'
import type { Commands } from '../transports/commands.ts'

/** Which element is looked for: all that is given must match. */
export interface ElementQuery {
  /** Its role, such as `button`: a part of it in any case. */
  role?: string
  /** The name that it shows: a part of it in any case, or a pattern. */
  title?: string | RegExp
  /** What it holds: a part of it in any case. */
  value?: string
}

/** An element of the accessibility tree; `center` is where to click it. */
export interface AccessibleElement {
  readonly role: string
  readonly title: string
  readonly value: string | null
  readonly position: Point
  readonly size: Size
  readonly center: Point
  readonly children: readonly AccessibleElement[]
}

/** An element as the server gives it, whose children have the same shape. */
type Sent = Commands['get_accessibility_tree']['result']['tree']

/** An element, with all below it. */
export const elementOf = ({ role, title, value, position, size, children }: Sent): AccessibleElement => ({
  role,
  title,
  value,
  position,
  size,
  center: { x: Math.round(position.x + size.width / 2), y: Math.round(position.y + size.height / 2) },
  children: (children as Sent[]).map(elementOf),
})

/** The first element of a tree that matches, parents before their children. */
export const findIn = (tree: AccessibleElement, query: ElementQuery): AccessibleElement | undefined => {
  for (const element of all(tree)) {
    if (has(element.role, query.role) && has(element.title, query.title) && has(element.value ?? '', query.value)) {
      return element
    }
  }
  return undefined
}

function* all(element: AccessibleElement): Generator<AccessibleElement> {
  yield element
  for (const child of element.children) yield* all(child)
}

const has = (text: string, wanted: string | RegExp | undefined): boolean => {
  if (wanted === undefined) return true
  if (typeof wanted === 'string') return text.toLowerCase().includes(wanted.toLowerCase())
  // A pattern with the flag `g` or `y` goes on from its last match.
  return new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, '')).test(text)
}
