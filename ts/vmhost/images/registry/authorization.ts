/** What a registry asks of its callers, and gets: basic credentials or a token (distribution's token specification). */
import { certificatesFor } from './certificates.ts'
import type { Credentials } from './credentials.ts'

/** What `WWW-Authenticate` asks for. */
export interface Challenge {
  readonly scheme: 'basic' | 'bearer'
  readonly parameters: Readonly<Record<string, string>>
}

/** Reads the first challenge that is known; undefined where there is none. */
export const challengeOf = (header: string | null): Challenge | undefined => {
  const [, scheme, rest = ''] = /(?:^|,\s*)(basic|bearer)\b(.*)$/i.exec(header ?? '') ?? []
  if (scheme === undefined) return undefined
  const parameters = [...rest.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value])
  return { scheme: scheme.toLowerCase() as Challenge['scheme'], parameters: Object.fromEntries(parameters) }
}

/** The header for basic authentication. */
export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** Whether secrets may be sent there: encrypted, or within this machine. */
export const isPrivate = (address: URL): boolean => address.protocol === 'https:' || isLoopback(address.host)

/** Whether `HOST[:PORT]` is this machine. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host)

/**
 * The value of `Authorization` that answers a challenge for `scope` (`repository:NAME:pull`). Undefined where there is none:
 * nothing is known to answer with. Throws an `Error` where the token's server refuses.
 */
export const answerTo = async (
  { scheme, parameters }: Challenge,
  scope: string,
  credentials: Credentials | undefined,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const password = credentials !== undefined && 'user' in credentials ? credentials : undefined
  if (scheme === 'basic') return password && basic(password.user, password.password)
  const realm = URL.parse(parameters.realm ?? '')
  if (realm === null || !isPrivate(realm)) throw new Error(`its token server "${parameters.realm}" is not encrypted`)
  const service = parameters.service
  const isIdentity = credentials !== undefined && 'identityToken' in credentials
  if (!isIdentity) {
    realm.searchParams.set('scope', scope)
    if (service !== undefined) realm.searchParams.set('service', service)
  }
  const form = isIdentity
    ? new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: 'backlot',
        refresh_token: credentials.identityToken,
        scope,
        ...(service !== undefined && { service }),
      })
    : undefined
  const answer = await fetch(realm, {
    headers: password === undefined ? {} : { Authorization: basic(password.user, password.password) },
    ...(form !== undefined && { method: 'POST', body: form }),
    redirect: 'error',
    ...(realm.protocol === 'https:' && { tls: await certificatesFor(realm.host) }),
    signal,
  })
  if (!answer.ok) throw new Error(`its token server answers with status ${answer.status}`)
  const { token, access_token } = (await answer.json()) as { token?: unknown; access_token?: unknown }
  const given = token ?? access_token
  if (typeof given !== 'string') throw new Error('its token server gives no token')
  return `Bearer ${given}`
}
