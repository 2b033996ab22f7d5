/** Fields of stored data: what they must hold, and what is said of those that do not. */

/** What a field must hold. */
export interface FieldKind {
  /** In words: `"ports" must be …`. */
  readonly must: string
  fits(value: unknown): boolean
  /** May be absent. */
  readonly optional?: true
}

/** A text that is not empty and can be written anywhere: whole characters, none of them NUL. */
export const aText: FieldKind = {
  must: 'a text',
  fits: (value) => typeof value === 'string' && value !== '' && isWritable(value),
}

/** A number that is not negative. */
export const aNumber: FieldKind = {
  must: 'a number',
  fits: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
}

/** One of a few values. */
export const oneOf = (values: readonly (string | null)[]): FieldKind => ({
  must: values.map((value) => JSON.stringify(value)).join(' or '),
  fits: (value) => values.some((each) => each === value),
})

/** A list of such values. */
export const listOf = (kind: FieldKind): FieldKind => ({
  must: `a list, each ${kind.must}`,
  fits: (value) => Array.isArray(value) && value.every((each) => kind.fits(each)),
})

/** Whether a text is whole characters, none of them NUL, which no file name, variable or command can hold. */
export const isWritable = (text: string): boolean =>
  // A half of a pair of code units is no character; `isWellFormed` is missing in Node 18 alone.
  !text.includes('\0') && !/\p{Surrogate}/u.test(text)

/** What is wrong with fields, naming the first: one that is missing, unknown or holds something else. */
export const fieldsFault = (
  value: Readonly<Record<string, unknown>>,
  kinds: Readonly<Record<string, FieldKind>>,
  where = '',
): string | undefined => {
  for (const [name, kind] of Object.entries(kinds)) {
    if (!Object.hasOwn(value, name) || value[name] === undefined) {
      if (kind.optional !== true) return `"${where}${name}" is missing; it is ${kind.must}`
    } else if (!kind.fits(value[name])) return `"${where}${name}" must be ${kind.must}, not ${quotedValue(value[name])}`
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(kinds, name))
  return unknown === undefined ? undefined : `there is no field "${where}${unknown}"`
}

/** A value as a message shows it. */
export const quotedValue = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
