/** What a cloud refuses, as an error of ours. */
import {
  AuthenticationError,
  type BacklotError,
  ConflictError,
  ConnectionError,
  InvalidArgumentError,
  NotFoundError,
  ResourceError,
} from '../errors.ts'

/** What was asked. */
export interface Asked {
  readonly operation: string
  readonly method: string
  readonly baseUrl: string
  readonly apiKey: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Milliseconds that a `Retry-After` header asks for: seconds, or a date. */
export const retryAfterMs = (header: string | null, now: number): number | null => {
  if (header === null) return null
  if (/^\d+$/.test(header.trim())) return Number(header) * 1_000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** The error that an answer other than 2xx stands for. */
export const refusalOf = (response: Response, answer: unknown, asked: Asked): BacklotError => {
  const { status } = response
  const { baseUrl, operation, input } = asked
  const said = saidBy(answer, asked.apiKey)
  const because = said === undefined ? '' : ` (${said})`
  const at = `The cloud at "${baseUrl}"`
  const details = { data: { baseUrl, status, ...(said !== undefined && { said }) } }
  if (status === 401 || status === 403) {
    return new AuthenticationError(
      'unauthorized',
      `${at} refuses the key${because}. Sign in again with \`login()\`, or give another key.`,
      details,
    )
  }
  const vm = input.vm ?? input.name
  if (status === 404 && typeof vm === 'string' && operation !== 'createVm') {
    return new NotFoundError(
      'sandbox_not_found',
      `${at} has no sandbox "${vm}". \`Sandbox.list({ runtime: 'cloud' })\` names those there are.`,
      details,
    )
  }
  if (status === 409 && operation === 'createVm') {
    const text = `${at} has a sandbox "${input.name}" already. Connect to it, or give another name.`
    return new ConflictError('sandbox_exists', text, details)
  }
  if (status === 409) {
    const text = `${at} is doing something else with "${vm}"${because}. Try again when that has ended.`
    return new ConflictError('sandbox_busy', text, { ...details, retryable: true })
  }
  if (status === 402) {
    return new ResourceError(
      'quota_exceeded',
      `${at} gives no more to this key${because}. Delete what is not used.`,
      details,
    )
  }
  if (status === 429) {
    return new ResourceError('rate_limited', `${at} was asked too often${because}. Try again later.`, {
      ...details,
      retryable: true,
      retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()),
    })
  }
  if (status === 400 || status === 422) {
    return new InvalidArgumentError(
      'invalid_argument',
      `${at} refuses the request${because}. Change what is asked.`,
      details,
    )
  }
  if (status >= 502 && status <= 504) {
    const text = `${at} does not answer at the moment (status ${status}). Try again later.`
    return new ConnectionError('unreachable', text, { ...details, retryable: asked.method === 'GET' })
  }
  return new ConnectionError(
    'invalid_response',
    `${at} answered with status ${status}${because}. Check that the address is that of a cloud.`,
    details,
  )
}

/** What the cloud said, without the key should it have repeated it. */
const saidBy = (answer: unknown, apiKey: string): string | undefined => {
  const { message, detail, error } = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<
    string,
    unknown
  >
  const said = [message, detail, error].find((each) => typeof each === 'string') as string | undefined
  return said?.replaceAll(apiKey, '…').slice(0, 500)
}
