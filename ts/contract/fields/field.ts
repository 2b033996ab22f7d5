/** One field of an operation's input: read from text, and checked. */
import type { TObject, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** What a path, a query string or a command line gives as text, as the type that the schema asks for, if it can be. */
export const fromText = (schema: TSchema, text: string): unknown =>
  // The library reads the beginning of a text as a whole number: 1 of "1.5" and of "1e3".
  schema.type === 'integer' ? numberOf(text) : Value.Convert(schema, text)

/** A number as people write it, else the text. */
const numberOf = (text: string): unknown => (/^\s*[+-]?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text)

/** What is wrong with a value, as a sentence that names the field; undefined when it is as the schema asks. */
export const fieldFault = (name: string, schema: TSchema, value: unknown): string | undefined => {
  if (Value.Check(schema, value)) return undefined
  const shown = show(value)
  const meant = schema.description === undefined ? '' : ` ${schema.description}`
  const isOfType = typeof value === schema.type || (schema.type === 'integer' && Number.isInteger(value))
  return isOfType
    ? `"${name}" cannot be ${shown}${choices(schema)}${range(schema)}.${meant}`
    : `"${name}" must be ${schema.type ?? 'another value'}, not ${shown}.${meant}`
}

/** The values that may be given, where they are few. */
const choices = ({ enum: values }: TSchema): string => (Array.isArray(values) ? `; it is ${values.join(' or ')}` : '')

/** Where the numbers that may be given begin and end. */
const range = ({ minimum, maximum }: TSchema): string => {
  if (minimum !== undefined && maximum !== undefined) return `; it is from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `; it is ${minimum} at least`
  return maximum === undefined ? '' : `; it is ${maximum} at most`
}

/** What is thrown for a field that is missing, and for one with that fault. */
export interface FieldFailures {
  missing(name: string, schema: TSchema): Error
  wrong(name: string, fault: string): Error
}

/** The declared fields among those given, `null` counting as absent; what is not declared is left out. */
export const checkedFields = (
  { properties, required = [] }: TObject,
  given: Readonly<Record<string, unknown>>,
  failures: FieldFailures,
): Record<string, unknown> => {
  const fields: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(properties)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined || value === null) {
      if (required.includes(name)) throw failures.missing(name, schema)
      continue
    }
    const fault = fieldFault(name, schema, value)
    if (fault !== undefined) throw failures.wrong(name, fault)
    fields[name] = value
  }
  return fields
}

/** A value as messages show it: its JSON, cut where it is long. */
export const show = (value: unknown): string => {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? typeof value)
  // A text that is cut keeps its closing quote.
  return text.length > 60 ? `${text.slice(0, 56)}…${text.startsWith('"') ? '"' : ''}` : text
}
