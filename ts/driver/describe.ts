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
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint?: boolean
    readonly idempotentHint?: boolean
    readonly openWorldHint: boolean
  }
}

/** Reads a tool's entry off its declaration, without the optional arguments of the names in `withheld`. */
export const describeTool = (
  { name, title, description, arguments: schema, attributes }: Tool,
  withheld: readonly string[] = [],
): ToolDescription => {
  const required = requiredArguments(schema, (key) => !withheld.includes(key))
  return {
    name,
    title,
    description,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(schema.properties)
          .filter(([key]) => !withheld.includes(key))
          .map(([key, property]) => [key, shown(property)]),
      ),
      ...(required.length === 0 ? {} : { required }),
    },
    annotations: {
      readOnlyHint: attributes.readOnly,
      ...(attributes.readOnly
        ? {}
        : { destructiveHint: attributes.destructive, idempotentHint: attributes.idempotent }),
      openWorldHint: attributes.openWorld,
    },
  }
}

/** From here on a maximum only says what an integer of the machine can hold. */
const machineLimit = 2_147_483_647

/** Without our own marks, which are no words of JSON Schema, and without limits that nobody reaches. */
const shown = ({ extension: _, standsFor: __, maximum, ...schema }: TSchema): object =>
  maximum === undefined || maximum >= machineLimit ? schema : { ...schema, maximum }
