/** Which tools and arguments an edge offers, as `--read-only` and `--allow` decide. */
import { Failure } from '@backlot/contract/failure'
import type { Tool } from '../tool/tool.ts'

/** Both must permit a tool. */
export interface Access {
  /** Only tools that change nothing, and no argument that names a file to write. */
  readonly readOnly: boolean
  /** Only tools of these names; `null` permits all. */
  readonly allow: readonly string[] | null
}

/** Permits everything. */
export const fullAccess: Access = { readOnly: false, allow: null }

/** Whether nothing is kept back. */
export const isFull = (access: Access): boolean => !access.readOnly && access.allow === null

/** Whether the tool is listed and may be called. */
export const permitted = (access: Access, tool: Pick<Tool, 'name' | 'attributes'>): boolean =>
  (!access.readOnly || tool.attributes.readOnly) && (access.allow === null || access.allow.includes(tool.name))

/** The arguments of a permitted tool that are neither listed nor taken: those that write files. */
export const withheld = (access: Access, { attributes }: Pick<Tool, 'attributes'>): readonly string[] =>
  access.readOnly ? attributes.writes : []

/** What both permit. */
export const permittedByBoth = (one: Access, other: Access): Access => ({
  readOnly: one.readOnly || other.readOnly,
  allow:
    one.allow === null
      ? other.allow
      : other.allow === null
        ? one.allow
        : one.allow.filter((name) => other.allow?.includes(name)),
})

/** The failure of a call that is kept back: `tool_not_allowed`. */
export const refusal = (access: Access, name: string): Failure => {
  const reason =
    access.allow !== null && !access.allow.includes(name)
      ? `\`--allow\` permits only: ${access.allow.join(', ') || '(none)'}`
      : '`--read-only` permits only tools that change nothing'
  return new Failure(
    'tool_not_allowed',
    `The tool "${name}" may not be called here: ${reason}. Use a tool of the list.`,
    {
      tool: name,
      read_only: access.readOnly,
      allow: access.allow,
    },
  )
}

/** The failure of a call that uses a withheld argument: `argument_not_allowed`. */
export const argumentRefusal = (access: Access, name: string, argument: string): Failure =>
  new Failure(
    'argument_not_allowed',
    `The argument "${argument}" of ${name} may not be used here: it writes a file, and \`--read-only\` permits no change. Leave it out: what it would hold comes in the result.`,
    { tool: name, argument, read_only: access.readOnly },
  )
