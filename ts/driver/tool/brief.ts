/** The tool list as agents read it at the start of every run: what repeats is said once. */
import type { TSchema } from '@sinclair/typebox'
import { requiredArguments } from './check.ts'
import { offeredArguments } from './describe.ts'
import type { Tool } from './tool.ts'

type Schema = Readonly<Record<string, unknown>>

/** One entry of MCP's `tools/list` (protocol revision 2025-06-18). */
export interface BriefDescription {
  readonly name: string
  readonly description: string
  readonly inputSchema: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, Schema>>
    readonly required?: readonly string[]
  }
  /** What is absent is as the protocol presumes: a tool acts, and may lose what somebody made. */
  readonly annotations?: { readonly readOnlyHint?: true; readonly destructiveHint?: false }
}

/** A tool, and the names of those of its arguments that are not offered. */
export interface Offered {
  readonly tool: Tool
  readonly withheld: readonly string[]
}

/**
 * The list without its repetitions, for edges that give all of it at once: an argument is described by the first tool that
 * has it, and means the same in the others unless those say something else. Ranges, defaults of false, titles and the
 * hints that no host asks the person by are left out: who goes beyond a range is told of it by the failure, and
 * `describeTool` says everything.
 */
export const briefTools = (offered: readonly Offered[]): BriefDescription[] => {
  const described = new Map<string, string>()
  /** The schema of an argument, described unless an earlier tool did. */
  const argument = ([name, declared]: [string, TSchema]): [string, Schema] => {
    const { description, ...schema } = brief(declared)
    const known = described.get(name)
    if (typeof description !== 'string' || known === description) return [name, schema]
    if (known === undefined) described.set(name, description)
    return [name, { ...schema, description }]
  }
  return offered.map(({ tool, withheld }) => {
    const { name, description, arguments: schema, attributes } = tool
    const required = requiredArguments(schema, (key) => !withheld.includes(key))
    const { readOnly, destructive } = attributes
    return {
      name,
      description,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(offeredArguments(tool, withheld).map(argument)),
        ...(required.length > 0 && { required }),
      },
      ...(readOnly && { annotations: { readOnlyHint: true } }),
      ...(!readOnly && !destructive && { annotations: { destructiveHint: false } }),
    }
  })
}

/** The words of JSON Schema that an agent chooses and fills in an argument by. */
const brief = ({ type, description, default: usual, enum: choices, items, properties, required }: TSchema): Schema => ({
  type,
  ...(choices !== undefined && { enum: choices }),
  ...(usual !== undefined && usual !== false && { default: usual }),
  ...(items !== undefined && { items: brief(items) }),
  ...(properties !== undefined && {
    properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, brief(each as TSchema)])),
  }),
  ...(required !== undefined && { required }),
  ...(description !== undefined && { description }),
})
