/** Arguments, checked in one place: what a tool's handler sees has its declared types and ranges. */
import { Failure } from '@backlot/contract/failure'
import { show } from '@backlot/contract/fields/field'
import { editDistance } from '@backlot/contract/text/edit-distance'
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Tool } from './tool.ts'

type Values = Record<string, unknown>

/** Names that every tool accepts: the caller's identity, and what clients add for themselves. */
const isForEveryTool = (name: string): boolean => name.startsWith('_') || name === 'session' || name === 'cursor_id'

/**
 * Gives `args` the declared defaults and types of `tool`, or throws `missing_argument`, `unknown_argument` or
 * `invalid_argument`. Absent arguments are an empty object, and `null` is an absent argument.
 * The optional arguments of the names in `hidden` count as unknown.
 */
export const checkArguments = <Arguments extends TObject>(
  tool: Pick<Tool<Arguments>, 'name' | 'arguments'> & Partial<Pick<Tool, 'attributes'>>,
  args: unknown,
  hidden: readonly string[] = [],
): Static<Arguments> => {
  const given = asObject(tool.name, args)
  const declared: Readonly<Record<string, TSchema>> = tool.arguments.properties
  const accepted = Object.keys(declared).filter((name) => !hidden.includes(name))
  for (const name of Object.keys(given)) {
    if (!accepted.includes(name) && !isForEveryTool(name)) throw unknown(tool.name, name, accepted)
  }
  const required = new Set(requiredArguments(tool.arguments, (name) => accepted.includes(name) && given[name] != null))
  const checked: Values = {}
  for (const [name, schema] of Object.entries(declared)) {
    const value = (Object.hasOwn(given, name) ? given[name] : undefined) ?? schema.default
    if (value === undefined || value === null) {
      if (!required.has(name)) continue
      throw new Failure('missing_argument', `Missing required ${kindOf(schema)} field: ${name}`, { argument: name })
    }
    const isSecret = given.secret === true && tool.attributes?.types?.includes(name) === true
    if (!Value.Check(schema, value)) throw invalid(name, schema, isSecret ? `a ${typeof value}` : show(value), value)
    refuseUntypeable(name, value)
    checked[name] = value
  }
  return checked as Static<Arguments>
}

/** The arguments that cannot be left out when those that are `present` are there: some stand for another. */
export const requiredArguments = (
  { required = [], properties }: TObject,
  present: (name: string) => boolean,
): readonly string[] => {
  const stoodFor = Object.entries(properties).flatMap(([name, { standsFor }]) => (present(name) ? [standsFor] : []))
  return required.filter((name) => !stoodFor.includes(name))
}

const asObject = (tool: string, args: unknown): Values => {
  if (args === undefined || args === null) return {}
  if (typeof args === 'object' && !Array.isArray(args)) return args as Values
  throw new Failure(
    'invalid_argument',
    `The arguments of "${tool}" must be a JSON object, not ${show(args)}. Pass {} for none.`,
  )
}

const unknown = (tool: string, name: string, accepted: readonly string[]): Failure => {
  const near = nearest(name, [...accepted, 'session'])
  const list = accepted.length === 0 ? 'It takes no arguments' : `Accepted: ${accepted.join(', ')}`
  return new Failure(
    'unknown_argument',
    `Unknown argument "${name}" for ${tool}.${near === undefined ? '' : ` Did you mean "${near}"?`} ${list}.`,
    { argument: name, accepted, nearest: near ?? null },
  )
}

const invalid = (name: string, schema: TSchema, shown: string, value: unknown): Failure =>
  new Failure(
    'invalid_argument',
    `${Array.isArray(schema.enum) && typeof value === 'string' ? `Unknown ${name}: argument` : 'Argument'} "${name}" must be ${expectation(schema)}, not ${shown}.`,
    { argument: name },
  )

/** Texts that no file name, no process argument and no key event can carry. */
const refuseUntypeable = (name: string, value: unknown): void => {
  for (const text of Array.isArray(value) ? value : [value]) {
    if (typeof text !== 'string') continue
    const flaw = text.includes('\0') ? 'a NUL character' : text.isWellFormed() ? undefined : 'half a surrogate pair'
    if (flaw !== undefined) {
      throw new Failure('invalid_argument', `Argument "${name}" holds ${flaw}. Send it without.`, { argument: name })
    }
  }
}

const kindOf = (schema: TSchema): string => String(schema.type ?? 'value')

/** What a schema asks for, in words. */
const expectation = (schema: TSchema): string => {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(', ')}`
  const words: Record<string, string> = {
    integer: `an integer${range(schema)}`,
    number: `a number${range(schema)}`,
    boolean: 'true or false',
    string: schema.pattern
      ? `a string of the form ${schema.description?.replace(/\.$/, '')}`
      : `a string${count(schema.minLength, schema.maxLength, 'character')}`,
    array: `an array${count(schema.minItems, schema.maxItems, 'item')}, each ${schema.items ? expectation(schema.items) : 'a value'}`,
  }
  const kind = kindOf(schema)
  return words[kind] ?? `${/^[aeio]/.test(kind) ? 'an' : 'a'} ${kind}`
}

const range = ({ minimum, maximum }: TSchema): string => {
  if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`
}

const count = (least: number | undefined, most: number | undefined, noun: string): string => {
  if (least === undefined && most === undefined) return ''
  if (most === undefined) return ` of at least ${least} ${noun}${least === 1 ? '' : 's'}`
  return ` of ${least ?? 0} to ${most} ${noun}s`
}

/** The name out of `names` that is fewest single-character edits from `name`, if that is less than half of it. */
export const nearest = (name: string, names: readonly string[]): string | undefined => {
  const wanted = name.slice(0, 64).toLowerCase()
  const [best] = names
    .map((candidate) => ({ candidate, edits: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits < Math.max(wanted.length, candidate.length) / 2)
    .sort((a, b) => a.edits - b.edits)
  return best?.candidate
}
