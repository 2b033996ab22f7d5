/** What a call types, and whether that goes into a password field. */
import type { AxElement } from '@backlot/native'
import type { Call } from '../context.ts'
import { mask } from '../secrets/secrets.ts'
import type { Tool } from '../tool/tool.ts'

/** The arguments of a call with a mask for what it types; `names` are those that were masked. */
export const withoutTyped = (
  { attributes }: Pick<Tool, 'attributes'>,
  args: Readonly<Record<string, unknown>>,
): { readonly args: Readonly<Record<string, unknown>>; readonly names: readonly string[] } => {
  const names = typing({ attributes }).filter((name) => args[name] !== undefined)
  const masks = names.map((name) => [name, Array.isArray(args[name]) ? [mask] : mask])
  return { args: { ...args, ...Object.fromEntries(masks) }, names }
}

/** The arguments of a tool that may hold a secret or a part of one. */
export const typing = ({ attributes: { types = [], presses = [] } }: Pick<Tool, 'attributes'>): readonly string[] => [
  ...types,
  ...presses,
]

/** The texts that a call types; keys are none. A number in the place of a text is one, though the call is refused. */
export const typedTexts = ({ attributes }: Pick<Tool, 'attributes'>, args: unknown): readonly string[] => {
  const given = (args ?? {}) as Readonly<Record<string, unknown>>
  const texts = (attributes.types ?? []).map((name) => given[name])
  return texts.flatMap((text) => (['string', 'number', 'boolean'].includes(typeof text) ? [String(text)] : []))
}

/** Keeps texts that turn out to be secrets: the short ones for this call alone. */
export const keepSecret = ({ driver, short }: Pick<Call, 'driver' | 'short'>, texts: readonly string[]): void => {
  driver.secrets.add(...texts)
  short.add(...texts)
}

/** The texts that a call says to be secrets, in itself or in the calls that it holds; its arguments may be anything. */
export const secretsIn = (tool: Tool, args: unknown, find: (name: string) => Tool | undefined): readonly string[] => {
  const { secret } = (args ?? {}) as { readonly secret?: unknown }
  const own = secret === true ? typedTexts(tool, args) : []
  const held = (tool.nested?.(args ?? {}) ?? []).flatMap((call) => {
    const found = typeof call.name === 'string' ? find(call.name) : undefined
    return found === undefined || found.nested !== undefined ? [] : secretsIn(found, call.args, find)
  })
  return [...own, ...held]
}

/** True of a key that types a character, as `a` and `space` do. */
export const isTyping = (text: string): boolean => [...text].length === 1 || text === 'space'

/** True of a field for a password. */
export const isPassword = ({ role, states }: Pick<AxElement, 'role' | 'states'>): boolean =>
  role === 'password text' || states.includes('password')

/** True of a tree, as Markdown, that has a field for a password. */
export const hasPassword = (markdown: string): boolean => markdown.includes('] password text')

/** True of a combination that pastes. */
export const isPaste = (key: string, modifiers: readonly string[]): boolean => {
  const held = new Set(modifiers.map((each) => each.toLowerCase()))
  const isCtrl = held.has('ctrl') || held.has('control')
  return (key.toLowerCase() === 'v' && isCtrl) || (key.toLowerCase() === 'insert' && held.has('shift') && !isCtrl)
}
