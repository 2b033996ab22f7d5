/** The part of CSS selectors that an accessibility tree can answer: a tag, #id, .class and [attribute], and lists of such. */

/** One compound: everything in it must fit. */
interface Compound {
  readonly tag: string | undefined
  /** Names in lower case with the value wanted, `undefined` for any. */
  readonly attributes: readonly (readonly [name: string, value: string | undefined])[]
  readonly classes: readonly string[]
}

/** A selector as it was read. */
export interface SimpleSelector {
  readonly compounds: readonly Compound[]
  /** Names of the attributes that it asks for. */
  readonly names: ReadonlySet<string>
}

const part = /^(?:#([\w-]+)|\.([\w-]+)|\[\s*([\w-]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*)?\])/

/** Reads a selector; `undefined` where it needs the page's own structure, as combinators and pseudo-classes do. */
export const readSelector = (text: string): SimpleSelector | undefined => {
  const compounds = text.split(',').map((each) => readCompound(each.trim()))
  if (compounds.some((compound) => compound === undefined)) return undefined
  const found = compounds.filter((compound) => compound !== undefined)
  const names = found.flatMap(({ attributes, classes }) => [
    ...attributes.map(([name]) => name),
    ...(classes.length > 0 ? ['class'] : []),
  ])
  return { compounds: found, names: new Set(names) }
}

const readCompound = (text: string): Compound | undefined => {
  const tag = text.match(/^(?:\*|[a-z][\w-]*)/i)?.[0] ?? ''
  let rest = text.slice(tag.length)
  if (tag === '' && rest === '') return undefined
  const attributes: [string, string | undefined][] = []
  const classes: string[] = []
  while (rest !== '') {
    const read = rest.match(part)
    if (read === null) return undefined
    const [all, id, name, attribute, ...values] = read
    if (id !== undefined) attributes.push(['id', id])
    if (name !== undefined) classes.push(name)
    if (attribute !== undefined) {
      attributes.push([attribute.toLowerCase(), values.find((value) => value !== undefined)])
    }
    rest = rest.slice(all.length)
  }
  return { tag: tag === '' || tag === '*' ? undefined : tag.toLowerCase(), attributes, classes }
}

/** True when an element with this tag and these attributes fits the selector. */
export const fits = (
  { compounds }: SimpleSelector,
  tag: string,
  attributes: Readonly<Record<string, string>>,
): boolean =>
  compounds.some(
    (compound) =>
      (compound.tag === undefined || compound.tag === tag) &&
      compound.classes.every((name) => attributes.class?.split(/\s+/).includes(name)) &&
      compound.attributes.every(
        ([name, value]) => Object.hasOwn(attributes, name) && (value === undefined || attributes[name] === value),
      ),
  )
