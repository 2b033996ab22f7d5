/** An element by what it is and where it stands in the tree: what outlives its process. */

/** One level of a path. */
export interface Step {
  readonly role: string
  /** Empty where it has none. */
  readonly name: string
}

/** An element and the named or operable objects around it, the outermost first. */
export interface Locator extends Step {
  readonly path: readonly Step[]
  /** Which of those with the same role, name and path it is, from 0. */
  readonly nth: number
}

/** An element that a locator was found to mean. */
export interface Located {
  readonly element_index: number
  /** `exact`: role, name and whole path; else what differs. */
  readonly how: 'exact' | 'path differs' | 'name differs' | 'one of several'
  /** From 0 to 1. */
  readonly confidence: number
  readonly role: string
  readonly name: string
}

interface Line extends Step {
  readonly index: number | undefined
  readonly path: readonly Step[]
}

const line = /^( *)- (?:\[(?:element_index )?(\d+)\] )?(.+?)(?: =)?(?: "((?:[^"\\]|\\.)*)")?(?= value="| \[actions=|$)/

/** The lines of a window's tree (Markdown), each with the objects around it. */
const linesOf = (markdown: string): readonly Line[] => {
  const around: { readonly depth: number; readonly step: Step }[] = []
  const lines: Line[] = []
  for (const text of markdown.split('\n')) {
    const found = line.exec(text)
    if (found === null) continue
    const depth = (found[1] ?? '').length
    while ((around.at(-1)?.depth ?? -1) >= depth) around.pop()
    const step: Step = { role: (found[3] ?? '').trim(), name: unescaped(found[4] ?? '') }
    lines.push({
      ...step,
      index: found[2] === undefined ? undefined : Number(found[2]),
      path: around.map((each) => each.step),
    })
    around.push({ depth, step })
  }
  return lines
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character))

const isSame = (a: Step, b: Step): boolean => a.role === b.role && a.name === b.name

const isSamePath = (a: readonly Step[], b: readonly Step[]): boolean =>
  a.length === b.length && a.every((step, at) => isSame(step, b[at] as Step))

/** The locator of an element of a tree, or `undefined` where the tree has no such index. */
export const locatorOf = (markdown: string, element_index: number): Locator | undefined => {
  const lines = linesOf(markdown)
  const own = lines.find(({ index }) => index === element_index)
  if (own === undefined) return undefined
  const alike = lines.filter((each) => each.index !== undefined && isSame(each, own) && isSamePath(each.path, own.path))
  return { role: own.role, name: own.name, path: own.path, nth: alike.indexOf(own) }
}

/** How many of the objects around an element stand, in this order, around the other too; the title of a window may differ. */
const pathSimilarity = (a: readonly Step[], b: readonly Step[]): number => {
  let [at, count] = [0, 0]
  for (const step of a) {
    const next = b.findIndex((each, index) => index >= at && each.role === step.role && alike(each, step))
    if (next === -1) continue
    count += 1
    at = next + 1
  }
  return a.length + b.length === 0 ? 1 : (2 * count) / (a.length + b.length)
}

const titled: ReadonlySet<string> = new Set([
  'frame',
  'dialog',
  'window',
  'file chooser',
  'document web',
  'document text',
])

const alike = (a: Step, b: Step): boolean => a.name === b.name || titled.has(a.role)

/** Below this nothing is taken to be meant. */
const leastScore = 0.4

/**
 * The element of a tree that a locator means. The role must be the same; name and path decide between those, and where
 * two are equally like it, their order. `undefined` where none is like it.
 */
export const locate = (markdown: string, locator: Locator): Located | undefined => {
  const candidates = linesOf(markdown)
    .filter((each): each is Line & { index: number } => each.index !== undefined && each.role === locator.role)
    .map((each) => {
      const path = pathSimilarity(locator.path, each.path)
      const isNamed = each.name === locator.name
      return {
        each,
        isNamed,
        path,
        score: isNamed ? 0.6 + 0.4 * path : 0.6 * path * likeness(each.name, locator.name),
      }
    })
    .sort((a, b) => b.score - a.score)
  const [best] = candidates
  if (best === undefined || best.score < leastScore) return undefined
  const equals = candidates.filter(({ score }) => score === best.score)
  const chosen = equals[Math.min(locator.nth, equals.length - 1)] ?? best
  const { index, role, name, path } = chosen.each
  const facts = { element_index: index, role, name }
  if (equals.length > locator.nth + 1 && locator.nth === 0 && equals.length > 1) {
    return { ...facts, how: 'one of several', confidence: round(chosen.score / equals.length) }
  }
  if (!chosen.isNamed) return { ...facts, how: 'name differs', confidence: round(chosen.score) }
  const isExact = isSamePath(path, locator.path)
  return { ...facts, how: isExact ? 'exact' : 'path differs', confidence: isExact ? 1 : round(chosen.score) }
}

const round = (score: number): number => Math.round(score * 100) / 100

/** From 0 to 1: the share of words that two names have in common; names without words are like nothing. */
export const likeness = (a: string, b: string): number => {
  const [one, other] = [a, b].map((name) => new Set(name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []))
  if (one === undefined || other === undefined || one.size + other.size === 0) return a === b ? 1 : 0
  return (2 * [...one].filter((word) => other.has(word)).length) / (one.size + other.size)
}
