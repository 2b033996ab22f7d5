/** What becomes of a request whose server is not reached, or is lost. */
import { BacklotError, ConnectionError } from '../errors.ts'

/** Codes of errors that come before anything was sent: the system's, and those of `fetch` in Bun and Node. */
const beforeSending = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENOENT',
  'EACCES',
  'FailedToOpenSocket',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** The error of a server that was not reached; nothing was sent. */
export const unreachable = (where: string, why: string, cause?: unknown): ConnectionError =>
  new ConnectionError('unreachable', `No computer server answers at "${where}" (${why}); start one, or name another.`, {
    data: { url: where },
    retryable: true,
    cause,
  })

/** The error of a call by a transport that was closed. */
export const disconnected = (where: string): ConnectionError =>
  new ConnectionError('unreachable', `The connection to "${where}" was closed by this program; call "connect" first.`, {
    data: { url: where },
  })

/** The error of a server that was lost after something was sent. */
export const connectionLost = (where: string, why: string, cause?: unknown): ConnectionError =>
  new ConnectionError(
    'connection_lost',
    `The connection to "${where}" was lost (${why}); what the server did by then is not known. Look before you call again.`,
    { data: { url: where }, cause },
  )

/** The error of an answer that is not what a computer server gives. */
export const invalidResponse = (where: string, why: string): ConnectionError =>
  new ConnectionError(
    'invalid_response',
    `The answer of "${where}" cannot be read: ${why}. Look whether a proxy changes it.`,
    { data: { url: where } },
  )

/** What is thrown for an error of a request: the reason of its signal, an error of ours as it is, else what it means. */
export const requestError = (error: unknown, where: string, signal: AbortSignal): unknown => {
  if (signal.aborted) return signal.reason
  if (BacklotError.is(error)) return error
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: { code?: unknown } }
  const why = [code, cause?.code].find((each) => typeof each === 'string')
  return typeof why === 'string' && beforeSending.has(why)
    ? unreachable(where, why, error)
    : connectionLost(where, why ?? String(message ?? error), error)
}

/** What is read of an answer; throws what its loss is to the caller. */
export const readFrom = <T>(where: string, signal: AbortSignal, read: Promise<T>): Promise<T> =>
  read.catch((error: unknown) => {
    throw requestError(error, where, signal)
  })
