/** What a tool tells its callers: the form of MCP's `tools/list` (protocol revision 2025-06-18). */
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
): ToolDescription => ({
  name,
  title,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(schema.properties)
        .filter(([key]) => !withheld.includes(key))
        // A mark for us, and no word of JSON Schema.
        .map(([key, { extension: _, ...property }]) => [key, property]),
    ),
    ...(schema.required?.length ? { required: schema.required } : {}),
  },
  annotations: {
    readOnlyHint: attributes.readOnly,
    ...(attributes.readOnly ? {} : { destructiveHint: attributes.destructive, idempotentHint: attributes.idempotent }),
    openWorldHint: attributes.openWorld,
  },
})
