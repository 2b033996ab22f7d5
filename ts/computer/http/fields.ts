/** JSON bodies of routes that are no commands. */

import { Failure } from '@backlot/contract/failure'
import { checkedFields } from '@backlot/contract/fields/field'
import type { TObject } from '@sinclair/typebox'
import { readText } from './body.ts'

/** The fields of a JSON body, `null` counting as absent. Throws `invalid_body`. */
export const fieldsOf = async (request: Request, schema: TObject): Promise<Readonly<Record<string, unknown>>> => {
  const text = await readText(request)
  let body: unknown
  try {
    body = text.trim() === '' ? {} : JSON.parse(text)
  } catch (error) {
    throw new Failure('invalid_body', `The body is not JSON: ${(error as Error).message}. Send a JSON object.`)
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Failure('invalid_body', 'The body is JSON but not an object. Send a JSON object.')
  }
  return checkedFields(schema, body as Readonly<Record<string, unknown>>, {
    missing: (argument) => new Failure('invalid_body', `"${argument}" is missing.`, { argument }),
    wrong: (argument, fault) => new Failure('invalid_body', fault, { argument }),
  })
}
