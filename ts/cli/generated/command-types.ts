/** The computer server's commands as plain types, which the SDK is published with: their fields show what they mean. */
import { computer } from '@backlot/contract/computer'
import type { Command } from '@backlot/contract/computer/command'

/** The parts of a JSON Schema that types are made of. */
interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[] | undefined
}

const scalars: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  integer: 'number',
  null: 'null',
  number: 'number',
  string: 'string',
}

/** The TypeScript type of a schema. Throws for one that has none. */
export const typeOf = (schema: Schema): string => {
  const { type, items, properties, patternProperties, anyOf } = schema
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' | ')
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (items !== undefined) return `(${typeOf(items)})[]`
  if (properties !== undefined) return fieldsOf(properties, schema.required ?? [])
  if (patternProperties !== undefined) {
    return `{ [name: string]: ${Object.values(patternProperties).map(typeOf).join(' | ')} }`
  }
  if (type === undefined) return 'unknown'
  const scalar = scalars[type]
  if (scalar === undefined) throw new Error(`no type for ${JSON.stringify(schema)}`)
  return scalar
}

const fieldsOf = (properties: Readonly<Record<string, Schema>>, required: readonly string[]): string => {
  const fields = Object.entries(properties).map(([name, field]) => {
    const usual = field.default === undefined ? '' : ` @default ${JSON.stringify(field.default)}`
    const text = `${field.description ?? ''}${usual}`.trim()
    return `${text === '' ? '' : `/** ${text} */\n`}${name}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`
  })
  if (fields.length === 0) return 'object'
  // Fields that need no word more than their names stand in one line, where that is wide enough.
  return fields.some((field) => field.includes('/**')) ? `{\n${fields.join('\n')}\n}` : `{ ${fields.join('; ')} }`
}

/** The text of the SDK's module with the types, before it is formatted. */
export const commandTypes = (): string => {
  const commands = Object.entries<Command>(computer).map(
    ([name, { summary, params, result }]) =>
      `/** ${summary} */\nreadonly ${name}: {\nreadonly params: ${typeOf(params)}\nreadonly result: ${typeOf(result)}\n}`,
  )
  return [
    '/** The commands of the computer server as they are sent; `./dev gen` writes this of their declarations. */',
    '',
    '/** Parameters and results of the commands of the computer server, by name. */',
    `export interface Commands {\n${commands.join('\n')}\n}\n`,
  ].join('\n')
}
