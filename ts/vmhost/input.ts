/** Reads what an operation is given: its path, query and body, of the declared types, side by side. */
import { type Endpoint, inputFields } from '@backlot/contract/endpoint'
import { Failure } from '@backlot/contract/failure'
import { fieldFault, fromText } from '@backlot/contract/field'
import { longestHostBodyBytes } from '@backlot/contract/limits'

type Fields = Record<string, unknown>

/**
 * The input of an operation; fields that it does not declare are left out, `null` is a field left out.
 * Throws `invalid_argument` for path and query, and `invalid_body` with a `detail` for the body.
 */
export const readInput = async (
  declared: Endpoint,
  params: Readonly<Record<string, string | null>>,
  request: Request,
): Promise<Fields> => {
  const query = new URL(request.url).searchParams
  const body = declared.body === undefined ? {} : await readBody(request)
  const input: Fields = {}
  for (const { name, from, schema, required } of inputFields(declared)) {
    const given = from === 'body' ? own(body, name) : from === 'params' ? params[name] : query.get(name)
    const refuse = (text: string): Failure =>
      from === 'body' ? invalidBody(text) : new Failure('invalid_argument', text, { argument: name })
    if (given === undefined || given === null) {
      if (required) throw refuse(`"${name}" is missing. ${schema.description ?? ''}`.trim())
      continue
    }
    const value = from === 'body' ? given : fromText(schema, String(given))
    const fault = fieldFault(name, schema, value)
    if (fault !== undefined) throw refuse(fault)
    input[name] = value
  }
  return input
}

const own = (fields: Fields, name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined)

/** Clients look for exactly this message; what is wrong stands beside it. */
const invalidBody = (detail: string): Failure => new Failure('invalid_body', 'Invalid request body', { detail })

/** The body as a JSON object, whatever its media type says. */
const readBody = async (request: Request): Promise<Fields> => {
  const text = await readText(request)
  if (text.trim() === '') throw invalidBody('The body is empty. Send a JSON object.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalidBody(`The body is not JSON: ${(error as Error).message}. Send a JSON object.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidBody('The body is JSON but not an object. Send a JSON object.')
  }
  return value as Fields
}

const readText = async (request: Request): Promise<string> => {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of request.body ?? []) {
      length += part.byteLength
      if (length > longestHostBodyBytes) break
      parts.push(part)
    }
  } catch (error) {
    throw invalidBody(`The body ended early: ${(error as Error).message}`)
  }
  if (length > longestHostBodyBytes) throw invalidBody(`The body is longer than ${longestHostBodyBytes} bytes.`)
  return new TextDecoder().decode(Buffer.concat(parts))
}
