/** Reads what an operation is given: its path, query and body, of the declared types, side by side. */
import { type ColonIs, type HttpOperation, inputFields } from '@backlot/contract/endpoint'
import { Failure } from '@backlot/contract/failure'
import { fieldFault, fromText } from '@backlot/contract/fields/field'
import type { TSchema } from '@sinclair/typebox'

type Fields = Record<string, unknown>

/** What an operation is asked with. */
export interface RequestParts {
  readonly request: Request
  /** The parameters in the path. */
  readonly params: Readonly<Record<string, string | null>>
}

/**
 * The input of an operation; fields that it does not declare are left out, `null` is a field left out.
 * Throws `invalid_argument` for path and query, and `invalid_body` with a `detail` for the body.
 */
export const readInput = async (
  declared: HttpOperation,
  { request, params }: RequestParts,
  longestBodyBytes: number,
): Promise<Fields> => {
  const query = new URL(request.url).searchParams
  const body =
    declared.body === undefined
      ? {}
      : respelled(await readBody(request, declared, longestBodyBytes), declared.spellings ?? {})
  const input: Fields = {}
  for (const { name, from, schema, required } of inputFields(declared)) {
    const given = from === 'body' ? own(body, name) : from === 'params' ? params[name] : query.get(name)
    const refuse = (text: string): Failure =>
      from === 'body' ? invalidBody(text) : new Failure('invalid_argument', text, { argument: name })
    if (given === undefined || given === null) {
      if (required) throw refuse(`"${name}" is missing. ${schema.description ?? ''}`.trim())
      continue
    }
    const value = uncoloned(schema, from === 'body' ? given : fromText(schema, String(given)))
    const fault = fieldFault(name, schema, value)
    if (fault !== undefined) throw refuse(fault)
    input[name] = value
  }
  return input
}

/** A colon counts as what the schema says. */
const uncoloned = ({ colonIs }: TSchema & ColonIs, value: unknown): unknown =>
  colonIs !== undefined && typeof value === 'string' ? value.replace(':', colonIs) : value

/** The fields under the names that are declared, at any depth; one that is there under both keeps the declared one's value. */
const respelled = (fields: Fields, spellings: Readonly<Record<string, string>>): Fields => {
  const value = (each: unknown): unknown =>
    Array.isArray(each)
      ? each.map(value)
      : typeof each === 'object' && each !== null
        ? respelled(each as Fields, spellings)
        : each
  const result: Fields = {}
  for (const [name, each] of Object.entries(fields)) {
    const meant = own(spellings, name)
    if (meant === undefined) result[name] = value(each)
    else if (own(fields, String(meant)) === undefined) result[String(meant)] = value(each)
  }
  return result
}

const own = (fields: Readonly<Fields>, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** Clients look for exactly this message; what is wrong stands beside it. */
const invalidBody = (detail: string): Failure => new Failure('invalid_body', 'Invalid request body', { detail })

/** The body as a JSON object, whatever its media type says. */
const readBody = async (request: Request, { leniently }: HttpOperation, longestBytes: number): Promise<Fields> => {
  const text = await readText(request, longestBytes)
  try {
    return parsed(text)
  } catch (error) {
    if (leniently) return {}
    throw error
  }
}

const parsed = (text: string): Fields => {
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

const readText = async (request: Request, longestBytes: number): Promise<string> => {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of request.body ?? []) {
      length += part.byteLength
      if (length > longestBytes) break
      parts.push(part)
    }
  } catch (error) {
    throw invalidBody(`The body ended early: ${(error as Error).message}`)
  }
  if (length > longestBytes) throw invalidBody(`The body is longer than ${longestBytes} bytes.`)
  return new TextDecoder().decode(Buffer.concat(parts))
}
