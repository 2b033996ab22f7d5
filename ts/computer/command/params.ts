/** What a command is given, checked against its declaration. */
import type { Command } from '@backlot/contract/computer/command'
import { Failure } from '@backlot/contract/failure'
import { checkedFields } from '@backlot/contract/fields/field'

/**
 * The declared parameters among those given; `null` counts as absent, unknown ones are left out: clients send both.
 * Throws `missing_argument` or `invalid_argument`.
 */
export const readParams = (name: string, declared: Command, given: unknown): Record<string, unknown> => {
  if (given !== undefined && given !== null && (typeof given !== 'object' || Array.isArray(given))) {
    throw new Failure('invalid_argument', `"params" of "${name}" must be an object.`, { argument: 'params' })
  }
  return checkedFields(declared.params, (given ?? {}) as Readonly<Record<string, unknown>>, {
    missing: (argument, { description = '' }) =>
      new Failure('missing_argument', `"${name}" needs "${argument}". ${description}`.trim(), { argument }),
    wrong: (argument, fault) => new Failure('invalid_argument', fault, { argument }),
  })
}
