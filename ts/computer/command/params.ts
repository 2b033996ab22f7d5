/** What a command is given, checked against its declaration. */
import type { Command } from '@backlot/contract/computer/command'
import { Failure } from '@backlot/contract/failure'
import { fieldFault } from '@backlot/contract/fields/field'

/**
 * The declared parameters among those given; `null` counts as absent, unknown ones are left out: clients send both.
 * Throws `missing_argument` or `invalid_argument`.
 */
export const readParams = (name: string, declared: Command, given: unknown): Record<string, unknown> => {
  if (given !== undefined && given !== null && (typeof given !== 'object' || Array.isArray(given))) {
    throw new Failure('invalid_argument', `"params" of "${name}" must be an object.`, { argument: 'params' })
  }
  const values = (given ?? {}) as Readonly<Record<string, unknown>>
  const required: readonly string[] = declared.params.required ?? []
  const params: Record<string, unknown> = {}
  for (const [field, schema] of Object.entries(declared.params.properties)) {
    const value = Object.hasOwn(values, field) ? values[field] : undefined
    if (value === undefined || value === null) {
      if (!required.includes(field)) continue
      throw new Failure('missing_argument', `"${name}" needs "${field}". ${schema.description ?? ''}`.trim(), {
        argument: field,
      })
    }
    const fault = fieldFault(field, schema, value)
    if (fault !== undefined) throw new Failure('invalid_argument', fault, { argument: field })
    params[field] = value
  }
  return params
}
