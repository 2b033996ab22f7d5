/**
 * Who may speak with the service: programs of this machine and holders of the token, but no web page that is not ours and
 * no guest.
 */
import { timingSafeEqual } from 'node:crypto'
import { Failure } from '@backlot/contract/failure'
import type { Passes } from './passes.ts'

/** What a request must show. */
export interface Entry {
  /** Whether a value of `Host`, in small letters, is one under which the service is known. */
  isOwnHost(host: string): boolean
  /** Some of those values, to tell people. */
  readonly hosts: readonly string[]
  readonly token: string | undefined
  /** Whether a guest of this host may have sent the request, whose network leads it to our loopback. */
  mayBeGuest(request: Request): boolean
  /** The browsers that were let in by a link. */
  readonly passes: Passes | undefined
}

/** Path of the web page, the only one that a link opens. */
export const consolePath = '/'

/**
 * Lets a request in, and gives what the answer must set as a cookie where the visitor came by a link.
 * Throws `foreign_host`, `foreign_origin`, `from_guest` or `unauthorized`. Pages of this machine on other ports are foreign too:
 * a browser calls them same-site, so that `Origin` (the Fetch standard, 3.2) is compared whole.
 */
export const admit = (request: Request, entry: Entry): string | undefined => {
  const { headers } = request
  const host = headers.get('host')?.toLowerCase() ?? ''
  if (!entry.isOwnHost(host)) {
    throw new Failure(
      'foreign_host',
      `"${host}" is not an address of this service; ask for it at ${entry.hosts.map((own) => `"${own}"`).join(' or ')}.`,
      { host },
    )
  }
  // A browser sends no origin with what a page of another site only shows or leads to, but says so (Fetch Metadata, 2.1).
  if (headers.get('sec-fetch-site') === 'cross-site') {
    throw new Failure(
      'foreign_origin',
      'A page of another site may not use this service. Type the address of the console, or take its link from `backlot serve`.',
    )
  }
  const origin = headers.get('origin')
  if (origin !== null && origin !== `http://${host}`) {
    throw new Failure(
      'foreign_origin',
      `A page of "${origin}" may not use this service; call it from a program, without an \`Origin\` header.`,
      { origin },
    )
  }
  if (entry.token === undefined) {
    if (!entry.mayBeGuest(request)) return undefined
    throw new Failure(
      'from_guest',
      'A guest may not use the service that runs it. Where it is meant to, start the service with --token-file and give it the token.',
    )
  }
  if (isSame(headers.get('authorization') ?? '', `Bearer ${entry.token}`)) return undefined
  if (entry.passes?.isHeldBy(headers.get('cookie') ?? '') && (origin !== null || onlyLooks(request))) return undefined
  const cookie = entry.passes?.visit(linkOf(request))
  if (cookie !== undefined) return cookie
  throw new Failure('unauthorized', 'This service asks for its token; send it as `Authorization: Bearer TOKEN`.')
}

/** A browser says its origin with all that changes something; only what a page merely shows comes without. */
const onlyLooks = ({ method, headers }: Request): boolean => method === 'GET' && headers.get('upgrade') === null

const linkOf = ({ method, url }: Request): string | undefined => {
  const { pathname, searchParams } = new URL(url)
  return method === 'GET' && pathname === consolePath ? (searchParams.get('link') ?? undefined) : undefined
}

const isSame = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted))

const digest = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()
