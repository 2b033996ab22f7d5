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
export interface CloudRequest {
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

/** What an error is made of. */
interface Refused {
  readonly status: number
  readonly at: string
  /** What the cloud said, in brackets behind a space; empty where it said nothing. */
  readonly because: string
  readonly details: { readonly data: Readonly<Record<string, unknown>> }
}

/** The error that an answer other than 2xx stands for. */
export const refusalOf = (response: Response, answer: unknown, asked: CloudRequest): BacklotError => {
  const { status } = response
  const said = saidBy(answer, asked.apiKey)
  const refused = {
    status,
    at: `The cloud at "${asked.baseUrl}"`,
    because: said === undefined ? '' : ` (${said})`,
    details: { data: { baseUrl: asked.baseUrl, status, ...(said !== undefined && { said }) } },
  }
  return (
    aboutSandbox(refused, asked) ?? aboutKey(refused, response.headers.get('retry-after')) ?? aboutCloud(refused, asked)
  )
}

/** That the sandbox is not there, is there already, or is busy. */
const aboutSandbox = (refused: Refused, { operation, input }: CloudRequest): BacklotError | undefined => {
  const { status, at, because, details } = refused
  const vm = input.vm ?? input.name
  if (status === 404 && typeof vm === 'string' && operation !== 'createVm') {
    const text = `${at} has no sandbox "${vm}". \`Sandbox.list({ runtime: 'cloud' })\` names those there are.`
    return new NotFoundError('sandbox_not_found', text, details)
  }
  if (status !== 409) return undefined
  if (operation === 'createVm') {
    const text = `${at} has a sandbox "${input.name}" already. Connect to it, or give another name.`
    return new ConflictError('sandbox_exists', text, details)
  }
  const text = `${at} is doing something else with "${vm}"${because}. Try again when that has ended.`
  return new ConflictError('sandbox_busy', text, { ...details, retryable: true })
}

/** That the key is none, or is given no more. */
const aboutKey = ({ status, at, because, details }: Refused, retryAfter: string | null): BacklotError | undefined => {
  if (status === 401 || status === 403) {
    const text = `${at} refuses the key${because}. Sign in again with \`login()\`, or give another key.`
    return new AuthenticationError('unauthorized', text, details)
  }
  if (status === 402) {
    const text = `${at} gives no more to this key${because}. Delete what is not used.`
    return new ResourceError('quota_exceeded', text, details)
  }
  if (status !== 429) return undefined
  return new ResourceError('rate_limited', `${at} was asked too often${because}. Try again later.`, {
    ...details,
    retryable: true,
    retryAfterMs: retryAfterMs(retryAfter, Date.now()),
  })
}

/** That the request is wrong, or the cloud does not answer as one. */
const aboutCloud = ({ status, at, because, details }: Refused, { method }: CloudRequest): BacklotError => {
  if (status === 400 || status === 422) {
    const text = `${at} refuses the request${because}. Change what is asked.`
    return new InvalidArgumentError('invalid_argument', text, details)
  }
  if (status >= 502 && status <= 504) {
    const text = `${at} does not answer at the moment (status ${status}). Try again later.`
    return new ConnectionError('unreachable', text, { ...details, retryable: method === 'GET' })
  }
  const text = `${at} answered with status ${status}${because}. Check that the address is that of a cloud.`
  return new ConnectionError('invalid_response', text, details)
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
