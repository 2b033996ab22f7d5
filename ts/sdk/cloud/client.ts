/** The cloud API, spoken over HTTP. */
import { cloudOperations } from '@backlot/contract/cloud'
import { type HttpOperation, type Input, inputFields, type Result } from '@backlot/contract/endpoint'
import { fieldFault } from '@backlot/contract/fields/field'
import { cloud } from '@backlot/contract/limits'
import type { CallOptions } from '../basics.ts'
import { pause, timeoutOf, withDeadline } from '../deadline.ts'
import { BacklotError, ConnectionError, TimeoutError } from '../errors.ts'
import type { CloudAccess } from './access.ts'
import { refusalOf } from './refusal.ts'

type Operations = typeof cloudOperations

/** One method for each operation. */
export type CloudClient = {
  readonly [Name in keyof Operations]: (
    input: Input<Operations[Name]>,
    options?: CallOptions,
  ) => Promise<Result<Operations[Name]>>
}

/** The client of a cloud. */
export const cloudClient = (access: CloudAccess): CloudClient =>
  Object.fromEntries(
    Object.entries<HttpOperation>(cloudOperations).map(([name, operation]) => [
      name,
      (input: Readonly<Record<string, unknown>>, options?: CallOptions) =>
        call(name, operation, input, access, options),
    ]),
  ) as unknown as CloudClient

const call = (
  name: string,
  operation: HttpOperation,
  input: Readonly<Record<string, unknown>>,
  access: CloudAccess,
  options?: CallOptions,
): Promise<unknown> => {
  const timeoutMs = timeoutOf(options)
  const deadline = performance.now() + timeoutMs
  const what = `"${operation.method} ${operation.path}" of the cloud`
  return withDeadline(options, what, async (signal) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(name, operation, input, access, signal)
      } catch (error) {
        signal.throwIfAborted()
        const waitMs = pauseBefore(error, operation, attempt)
        if (waitMs === undefined || performance.now() + waitMs > deadline) throw error
        await pause(waitMs, signal)
      }
    }
  })
}

/**
 * Milliseconds after which a request may be sent again; undefined where it may not. What only asks can be asked again; anything
 * else only where the server says that it did nothing and when to come back.
 */
const pauseBefore = (error: unknown, operation: HttpOperation, attempt: number): number | undefined => {
  if (!BacklotError.is(error) || attempt >= cloud.attempts) return undefined
  if (error.code === 'rate_limited' && error.retryAfterMs !== null) return error.retryAfterMs
  const mayAskAgain = error.code === 'unreachable' || error.code === 'connection_lost' || error.code === 'rate_limited'
  return operation.method === 'GET' && mayAskAgain ? cloud.retryMs * 2 ** (attempt - 1) : undefined
}

const once = async (
  name: string,
  operation: HttpOperation,
  input: Readonly<Record<string, unknown>>,
  { baseUrl, apiKey }: CloudAccess,
  signal: AbortSignal,
): Promise<unknown> => {
  const headers: Record<string, string> = { Authorization: `Bearer ${apiKey}`, Accept: 'application/json' }
  const body: Record<string, unknown> = {}
  let path = operation.path
  for (const field of inputFields(operation)) {
    const value = input[field.name]
    if (value === undefined) continue
    if (field.from === 'params') path = path.replace(`{${field.name}}`, () => encodeURIComponent(String(value)))
    else body[field.name] = value
  }
  // A redirection would carry the key to an address that nobody named.
  const init: RequestInit = { method: operation.method, headers, redirect: 'manual', signal }
  if (operation.body !== undefined) {
    headers['Content-Type'] = 'application/json'
    init.body = JSON.stringify(body)
  }
  let response: Response
  try {
    response = await fetch(`${baseUrl}${path}`, init)
  } catch (error) {
    signal.throwIfAborted()
    throw new ConnectionError(
      'unreachable',
      `The cloud at "${baseUrl}" cannot be reached (${reasonOf(error)}). Check the address and the network.`,
      { data: { baseUrl }, retryable: operation.method === 'GET' },
    )
  }
  const answer = await bodyOf(response, baseUrl, signal)
  if (!response.ok) {
    throw refusalOf(response, answer, { operation: name, method: operation.method, baseUrl, apiKey, input })
  }
  const fault = fieldFault('answer', operation.success.result, answer)
  if (fault === undefined) return answer
  throw new ConnectionError(
    'invalid_response',
    `"${operation.method} ${operation.path}" of the cloud at "${baseUrl}" answered something else than it should. ` +
      'Check that the address is that of a cloud, and update @backlot/sdk.',
    { data: { baseUrl, status: response.status } },
  )
}

/** The body of an answer, as JSON where it is; a long one is not read to its end. */
const bodyOf = async (response: Response, baseUrl: string, signal: AbortSignal): Promise<unknown> => {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    if (response.body !== null) {
      for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
        bytes += part.byteLength
        if (bytes > cloud.longestAnswerBytes) break
        text += decoder.decode(part, { stream: true })
      }
    }
  } catch (error) {
    signal.throwIfAborted()
    throw new ConnectionError(
      'connection_lost',
      `The connection to the cloud at "${baseUrl}" was lost within its answer (${reasonOf(error)}). Look before you repeat the call.`,
      { data: { baseUrl } },
    )
  }
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The name that the system gives to a failed connection; what `fetch` says may hold what was sent. */
const reasonOf = (error: unknown): string => {
  const { code, cause, name } = error as { code?: unknown; cause?: { code?: unknown }; name?: unknown }
  return String(code ?? cause?.code ?? name ?? 'no reason given')
}

/** Waits until `look` gives something, ever longer between two looks; throws `not_ready` that names `what`. */
export const poll = async <T>(
  options: CallOptions | undefined,
  usualMs: number,
  what: string,
  look: (signal: AbortSignal) => Promise<T | undefined>,
): Promise<T> => {
  const timeoutMs = timeoutOf(options, usualMs)
  try {
    return await withDeadline(
      { ...options, timeoutMs },
      what,
      async (signal) => {
        for (
          let waitMs: number = cloud.pollIntervalMs.first;
          ;
          waitMs = Math.min(waitMs * 1.5, cloud.pollIntervalMs.longest)
        ) {
          const seen = await look(signal)
          if (seen !== undefined) return seen
          await pause(waitMs, signal)
        }
      },
      timeoutMs,
    )
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    throw new TimeoutError(
      'not_ready',
      `${what} took longer than ${timeoutMs} ms; look again with \`Sandbox.getInfo\`.`,
      {
        data: { timeoutMs },
      },
    )
  }
}
