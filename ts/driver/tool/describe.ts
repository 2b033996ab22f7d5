/** What a tool tells its callers: the form of MCP's `tools/list` (protocol revision 2025-06-18). */
import type { TSchema } from '@sinclair/typebox'
import { requiredArguments } from './check.ts'
import type { Tool } from './tool.ts'

/** One entry of `tools/list`. */
export interface ToolDescription {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, object>>
    readonly required?: readonly string[]
  }
  readonly annotations: Hints
}

/** What is absent is as the protocol presumes: not read-only, destructive, not idempotent, in an open world. */
interface Hints {
  readonly readOnlyHint?: true
  readonly destructiveHint?: false
  readonly idempotentHint?: true
  readonly openWorldHint?: false
}

/** Reads a tool's entry off its declaration, without the optional arguments of the names in `withheld`. */
export const describeTool = (tool: Tool, withheld: readonly string[] = []): ToolDescription => {
  const { name, title, description, arguments: schema, attributes } = tool
  const required = requiredArguments(schema, (key) => !withheld.includes(key))
  return {
    name,
    title,
    description,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(offeredArguments(tool, withheld).map(([key, property]) => [key, shown(property)])),
      ...(required.length === 0 ? {} : { required }),
    },
    annotations: hintsOf(attributes),
  }
}

/** The arguments of a tool but for those of the names in `withheld`, with their declarations. */
export const offeredArguments = ({ arguments: schema }: Tool, withheld: readonly string[]): [string, TSchema][] =>
  Object.entries(schema.properties).filter(([key]) => !withheld.includes(key))

const hintsOf = ({ readOnly, destructive, idempotent, openWorld }: Tool['attributes']): Hints => ({
  ...(readOnly && { readOnlyHint: true }),
  ...(!readOnly && !destructive && { destructiveHint: false }),
  ...(!readOnly && idempotent && { idempotentHint: true }),
  ...(!openWorld && { openWorldHint: false }),
})

/** From here on a maximum only says what an integer of the machine can hold: it is an id, and its limits are no news. */
const machineLimit = 2_147_483_647

/**
 * Without our own marks, which are no words of JSON Schema, and without limits that nobody means to reach; what a pattern
 * wants, the description says. `more` is the part of a description that choosing the argument does not need.
 */
const shown = (property: TSchema): object => {
  const { extension, standsFor, more, minLength, maxLength, maxItems, pattern, minimum, maximum, ...schema } = property
  return {
    ...schema,
    ...(more !== undefined && { description: [schema.description, more].filter(Boolean).join(' ') }),
    ...(schema.items !== undefined && { items: shown(schema.items) }),
    ...(maximum === undefined || maximum < machineLimit ? { minimum, maximum } : {}),
  }
}
