/** A typed client read off the declarations of an HTTP surface. */
import { type HttpOperation, type HttpOperations, type Input, inputFields, type Result } from './endpoint.ts'
import { Failure, type FailureCode, failures } from './failure.ts'

/** One method for each operation; it throws the `Failure` that the service answers with. */
export type Client<Declared extends HttpOperations> = {
  readonly [Name in keyof Declared]: (
    // biome-ignore lint/complexity/noBannedTypes: asks whether every field may be left out.
    ...input: {} extends Input<Declared[Name]> ? [input?: Input<Declared[Name]>] : [input: Input<Declared[Name]>]
  ) => Promise<Result<Declared[Name]>>
}

/** How a client reaches its service. */
export interface ClientOptions {
  /** Address with the prefix and without a slash at its end: `http://127.0.0.1:7777/svc`. */
  readonly baseUrl: string
  /** How people name it, where that is not `baseUrl`. */
  readonly shown?: string | undefined
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string | undefined
}

/** The client of a surface; a service that cannot be reached, or is another one, gives `host_unreachable`. */
export const httpClient = <All extends HttpOperations>(declared: All, options: ClientOptions): Client<All> =>
  Object.fromEntries(
    Object.entries(declared).map(([name, endpoint]) => [
      name,
      (input: Readonly<Record<string, unknown>> = {}) => call(endpoint, input, options),
    ]),
  ) as unknown as Client<All>

const call = async (
  endpoint: HttpOperation,
  input: Readonly<Record<string, unknown>>,
  options: ClientOptions,
): Promise<unknown> => {
  const { url, init } = request(endpoint, input, options)
  let response: Response
  try {
    response = await options.fetch(url, init)
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown }
    throw new Failure(
      'host_unreachable',
      `No VM host answers at "${options.shown ?? options.baseUrl}" (${code ?? message}). Start one with \`backlot serve\`.`,
      { baseUrl: options.baseUrl },
    )
  }
  const answer = await response.json().catch(() => undefined)
  if (answer !== undefined && response.status === endpoint.success.status) return answer
  throw refused(answer, response.status, options)
}

const request = (
  endpoint: HttpOperation,
  input: Readonly<Record<string, unknown>>,
  options: ClientOptions,
): { url: string; init: RequestInit } => {
  const headers: Record<string, string> = {}
  if (options.token !== undefined) headers.Authorization = `Bearer ${options.token}`
  let path = endpoint.path
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const { name, from } of inputFields(endpoint)) {
    const value = input[name]
    if (value === undefined) continue
    if (from === 'params' && /^\.{0,2}$/.test(String(value))) {
      // A URL parser takes these for the folder itself or the one above, percent-encoded or not.
      throw new Failure('invalid_argument', `"${name}" is "${value}", which cannot stand in a path; give a name.`, {
        name,
      })
    }
    if (from === 'params') path = path.replace(`{${name}}`, () => encodeURIComponent(String(value)))
    else if (from === 'query') query.set(name, String(value))
    else body[name] = value
  }
  const init: RequestInit = { method: endpoint.method, headers }
  if (endpoint.body !== undefined) {
    headers['Content-Type'] = 'application/json'
    init.body = JSON.stringify(body)
  }
  return { url: `${options.baseUrl}${path}${query.size > 0 ? `?${query}` : ''}`, init }
}

const refused = (answer: unknown, status: number, options: ClientOptions): Failure => {
  const { code, message, ...data } = (answer ?? {}) as Record<string, unknown>
  if (typeof code !== 'string' || typeof message !== 'string') {
    return new Failure(
      'host_unreachable',
      `What answers at "${options.shown ?? options.baseUrl}" is no VM host (status ${status}); name the address of one.`,
      { baseUrl: options.baseUrl, status },
    )
  }
  return Object.hasOwn(failures, code)
    ? new Failure(code as FailureCode, message, data)
    : new Failure('internal', message, { ...data, code })
}
