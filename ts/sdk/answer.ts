/** What a server answers, as a result or as an error of ours. */
import type { Fields } from './basics.ts'
import {
  ActionError,
  AuthenticationError,
  type BacklotError,
  ConflictError,
  InvalidArgumentError,
  NotFoundError,
  ResourceError,
  TimeoutError,
  UnavailableError,
  UnsupportedError,
} from './errors.ts'

type Make = (message: string, data: Fields) => BacklotError

/** What makes the errors of a class, by code. */
const makerOf =
  <Code>(
    Kind: new (code: Code, message: string, details: { data: Fields; retryable: boolean }) => BacklotError,
    retryable = false,
  ) =>
  (code: Code): Make =>
  (message, data) =>
    new Kind(code, message, { data, retryable })
const argument = makerOf(InvalidArgumentError)
const notFound = makerOf(NotFoundError)
const conflict = makerOf(ConflictError)
const action = makerOf(ActionError)
const resource = makerOf(ResourceError, true)
const invalid = argument('invalid_argument')
const unknownKey = argument('unknown_key')
const unsupported: Make = (message, data) => new UnsupportedError(message, { data })
const unauthorized = makerOf(AuthenticationError)('unauthorized')
const unavailable = makerOf(UnavailableError)('runtime_unavailable')
const incompatible: Make = (message, data) =>
  new UnavailableError('server_incompatible', `${message} The server is older than this package, or not Backlot's.`, {
    data,
  })
const outputOf = ({ stdout, stderr }: Fields) =>
  typeof stdout === 'string' && typeof stderr === 'string' ? { stdout, stderr } : null

/** What the server's codes become; one that does not stand here becomes `internal`. */
const errorOfCode: Readonly<Record<string, Make>> = {
  invalid_argument: invalid,
  missing_argument: invalid,
  unknown_argument: invalid,
  invalid_body: invalid,
  invalid_json: invalid,
  element_not_found: invalid,
  unknown_key: unknownKey,
  unsupported_key: unknownKey,
  unknown_modifier: unknownKey,
  not_available: unsupported,
  missing_program: unsupported,
  file_too_large: unsupported,
  clipboard_too_large: unsupported,
  window_not_found: notFound('window_not_found'),
  app_not_found: notFound('app_not_found'),
  file_not_found: notFound('file_not_found'),
  film_not_found: notFound('file_not_found'),
  terminal_unknown: notFound('pty_not_found'),
  file_exists: conflict('file_exists'),
  film_in_use: conflict('file_exists'),
  folder_not_empty: conflict('folder_not_empty'),
  file_refused: conflict('permission_denied'),
  paused_by_person: conflict('paused_by_person'),
  unknown_command: incompatible,
  unknown_operation: incompatible,
  not_a_socket: incompatible,
  unauthorized,
  foreign_host: unauthorized,
  foreign_origin: unauthorized,
  from_guest: unauthorized,
  unsupported,
  sandbox_not_found: notFound('sandbox_not_found'),
  snapshot_not_found: notFound('snapshot_not_found'),
  pool_not_found: notFound('pool_not_found'),
  sandbox_exists: conflict('sandbox_exists'),
  sandbox_not_running: conflict('sandbox_not_running'),
  sandbox_busy: conflict('sandbox_busy'),
  sandbox_not_started: (message, data) => new TimeoutError('not_ready', message, { data }),
  root_not_built: unavailable,
  runtime_unavailable: unavailable,
  command_timed_out: (message, data) => new TimeoutError('command_timeout', message, { data, output: outputOf(data) }),
  disk_full: (message, data) => new ResourceError('disk_full', message, { data }),
  host_memory: (message, data) => new ResourceError('host_memory', message, { data }),
  too_many_films: resource('quota_exceeded'),
  too_many_terminals: resource('quota_exceeded'),
  launch_failed: action('launch_failed'),
  text_not_typable: action('text_not_typable'),
  input_unavailable: action('input_unavailable'),
  foreground_only: action('input_unavailable'),
  too_many_agents: action('input_unavailable'),
  display_unavailable: action('display_unavailable'),
  desktop_not_started: action('display_unavailable'),
  display_lost: action('display_lost'),
  desktop_lost: action('display_lost'),
  capture_failed: action('capture_failed'),
  clipboard_timeout: action('clipboard_timeout'),
  window_manager_refused: action('window_manager_refused'),
  accessibility_unavailable: action('accessibility_unavailable'),
  accessibility_failed: action('accessibility_unavailable'),
  accessibility_timeout: action('accessibility_unavailable'),
}

/** The error for a code of a server; `data` keeps the code where ours is another. */
export const errorFor = (code: string, message: string, data: Fields = {}): BacklotError => {
  const make = Object.hasOwn(errorOfCode, code) ? errorOfCode[code] : undefined
  const error = (make ?? action('internal'))(message, data)
  return error.code === code ? error : (make ?? action('internal'))(message, { ...data, serverCode: code })
}

/** The fields of a success; what a server answers with `success: false` is thrown as the error of its code. */
export const fieldsOf = (answer: Fields): Fields => {
  const { success, ...fields } = answer
  if (success !== false) return fields
  const { error, code, ...data } = fields
  throw errorFor(typeof code === 'string' ? code : 'internal', String(error ?? 'The server gave no reason.'), data)
}

/** The error that a plain HTTP answer of a server stands for, by its body where that is ours, else by its status. */
export const errorOfBody = (status: number, body: unknown, url: string): BacklotError => {
  const { code, message, detail, ...data } = (typeof body === 'object' && body !== null ? body : {}) as Fields
  const text = typeof message === 'string' ? message : typeof detail === 'string' ? detail : undefined
  if (typeof code === 'string' && text !== undefined) return errorFor(code, text, data)
  if (status === 401 || status === 403) {
    return unauthorized(`"${url}" refuses the request (${text ?? `status ${status}`}); give the key with "apiKey".`, {
      status,
    })
  }
  if (text?.startsWith('Unknown command')) return incompatible(`${text}.`, { status })
  if (text !== undefined && status === 400) return invalid(text, { status })
  if (status === 429) return resource('rate_limited')(`"${url}" answers with status 429; try again later.`, { status })
  return notOurs(url, status)
}

/** The error of an answer that no computer server gives. */
export const notOurs = (url: string, status: number): UnavailableError =>
  new UnavailableError(
    'server_incompatible',
    `What answers at "${url}" is no computer server (status ${status}); name the address of one.`,
    { data: { status } },
  )
