/** Elements of the trees that computers give, whatever they are read with. */
import type { CommandResult } from '@backlot/contract/computer'
import { Failure } from '@backlot/contract/failure'

/** An element with those in it. */
export type Element = CommandResult<'find_element'>['element']

/** Texts that an element holds, in any case of letters. */
export interface ElementQuery {
  readonly role?: string
  readonly title?: string
  readonly value?: string
}

/** The first element of a tree that holds the texts, and how many do. Throws `missing_argument` and `element_not_found`. */
export const findIn = async (readTree: () => Promise<Element>, wanted: ElementQuery) => {
  if (Object.keys(wanted).length === 0) {
    throw new Failure('missing_argument', '"find_element" needs "role", "title" or "value".', { argument: 'role' })
  }
  const found = elementsLike(await readTree(), wanted)
  const [element] = found
  if (element !== undefined) return { element: { ...element, children: [] }, count: found.length }
  const shown = Object.entries(wanted).map(([field, text]) => `${field} "${text}"`)
  throw new Failure('element_not_found', `No element on the screen has ${shown.join(' and ')}.`, { ...wanted })
}

/** The elements of a tree that hold the texts. */
export const elementsLike = (tree: Element, wanted: ElementQuery): Element[] =>
  [...all(tree)].filter((element) => matches(element, wanted))

function* all(element: Element): Generator<Element> {
  yield element
  for (const child of element.children as Element[]) yield* all(child)
}

const matches = (element: Element, wanted: ElementQuery): boolean =>
  has(element.role, wanted.role) && has(element.title, wanted.title) && has(element.value ?? '', wanted.value)

const has = (text: string, part: string | undefined): boolean =>
  part === undefined || text.toLowerCase().includes(part.toLowerCase())
