/** What must not stand in a recording, and its mask. */
import type { Tool } from '../tool.ts'

/** What stands in place of a secret, however long that is. */
export const mask = '••••••••'

/** Shorter secrets are only recognised where they stand alone: they occur in other words. */
const shortest = 4

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** A value of JSON in which no string holds one of the secrets. */
export const without = (secrets: ReadonlySet<string>, value: unknown): Json => {
  if (typeof value === 'string') return masked(secrets, value)
  if (Array.isArray(value)) return value.map((each) => without(secrets, each))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, without(secrets, each)]))
  }
  return (value ?? null) as Json
}

/** A text without the secrets. */
export const masked = (secrets: ReadonlySet<string>, text: string): string => {
  let rest = text
  for (const secret of secrets) {
    if (secret.length >= shortest) rest = rest.replaceAll(secret, mask)
    else if (rest === secret) return mask
    else rest = rest.replaceAll(`"${secret}"`, `"${mask}"`)
  }
  return rest
}

/** The arguments of a call with a mask for what it types; `names` are those that were masked. */
export const withoutTyped = (
  { attributes }: Pick<Tool, 'attributes'>,
  args: Readonly<Record<string, unknown>>,
): { readonly args: Readonly<Record<string, unknown>>; readonly names: readonly string[] } => {
  const names = (attributes.types ?? []).filter((name) => args[name] !== undefined)
  const masks = names.map((name) => [name, Array.isArray(args[name]) ? [mask] : mask])
  return { args: { ...args, ...Object.fromEntries(masks) }, names }
}

/** The texts that a call types. */
export const typedTexts = (
  { attributes }: Pick<Tool, 'attributes'>,
  args: Readonly<Record<string, unknown>>,
): readonly string[] => (attributes.types ?? []).flatMap((name) => (typeof args[name] === 'string' ? [args[name]] : []))

/** True of a key that types a character, as `a` and `space` do. */
export const isTyping = (text: string): boolean => [...text].length === 1 || text === 'space'
