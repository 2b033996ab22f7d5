/** The session that a call names. */
import { Failure } from '@backlot/contract/failure'
import { sessions as limits } from '@backlot/contract/limits'
import type { Tool } from '../tool/tool.ts'

/** A session's name, or `undefined` where there is none. Throws `invalid_argument` for what is no name. */
export const sessionName = (argument: string, value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined
  const { longestName } = limits
  if (typeof value === 'string' && value !== '' && value.length <= longestName && value.isWellFormed()) return value
  throw new Failure(
    'invalid_argument',
    `Argument "${argument}" must be a string of 1 to ${longestName} characters: the name of the session.`,
    { argument },
  )
}

/**
 * The session of a call: `session` in its arguments, or its older name `cursor_id`, else what its edge says. A tool that
 * declares one of them itself means something else by it. Throws `invalid_argument`.
 */
export const sessionOf = (
  { arguments: { properties } }: Pick<Tool, 'arguments'>,
  args: unknown,
  fromEdge?: string,
): { readonly session?: string } => {
  const given = (args ?? {}) as Readonly<Record<string, unknown>>
  if (Object.hasOwn(properties, 'session')) return {}
  const named = ['session', 'cursor_id'].map((argument) =>
    Object.hasOwn(properties, argument) ? undefined : sessionName(argument, given[argument]),
  )
  const session = named.find((name) => name !== undefined) ?? fromEdge
  return session === undefined ? {} : { session }
}
