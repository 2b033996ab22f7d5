/** JSON bodies of routes that are no commands. */

import { Failure } from '@backlot/contract/failure'
import { fieldFault } from '@backlot/contract/fields/field'
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
  const given = body as Readonly<Record<string, unknown>>
  const fields: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.properties)) {
    const value = Object.hasOwn(given, name) ? (given[name] ?? undefined) : undefined
    if (value === undefined && schema.required?.includes(name)) {
      throw new Failure('invalid_body', `"${name}" is missing.`, { argument: name })
    }
    const fault = value === undefined ? undefined : fieldFault(name, field, value)
    if (fault !== undefined) throw new Failure('invalid_body', fault, { argument: name })
    if (value !== undefined) fields[name] = value
  }
  return fields
}
