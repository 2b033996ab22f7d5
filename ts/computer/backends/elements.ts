/** Elements of the trees that computers give, whatever they are read with. */
import type { CommandResult } from '@backlot/contract/computer'

/** An element with those in it. */
export type Element = CommandResult<'find_element'>['element']

/** The elements of a tree whose texts hold what is wanted, in any case of letters. */
export const elementsLike = (
  tree: Element,
  wanted: { readonly role?: string; readonly title?: string; readonly value?: string },
): Element[] => [...all(tree)].filter((element) => matches(element, wanted))

function* all(element: Element): Generator<Element> {
  yield element
  for (const child of element.children as Element[]) yield* all(child)
}

const matches = (element: Element, wanted: Parameters<typeof elementsLike>[1]): boolean =>
  has(element.role, wanted.role) && has(element.title, wanted.title) && has(element.value ?? '', wanted.value)

const has = (text: string, part: string | undefined): boolean =>
  part === undefined || text.toLowerCase().includes(part.toLowerCase())
