/**
 * Who may speak with a server: programs of this machine and holders of its key, but no web page that is not its own and
 * no guest.
 */
import { timingSafeEqual } from 'node:crypto'
import { Failure } from '@backlot/contract/failure'
import type { Passes } from './passes.ts'

/** How the guard of one server differs from that of another. */
export interface Rules {
  /** The key that a request shows, if any. */
  keyIn(headers: Headers): string | undefined
  /** Whether the request is let in without a key where one is asked for; a guest is not. */
  needsNoKey(request: Request): boolean
  /** Whether who was let in to look on may send the request; nobody is when absent. */
  readonly onlyLooks?: (request: Request) => boolean
  /** Path of the web page, the only one that a link opens. */
  readonly pagePath: string
  /** What the cookies are for; those of one realm are worth nothing in another of the same key. */
  readonly realm: string
  /** What the refusals say. */
  readonly texts: RefusalTexts
}

/** What is wrong and what to do about it, in the words of one server. */
export interface RefusalTexts {
  readonly crossSite: string
  readonly fromGuest: string
  readonly unauthorized: string
  /** What to do where the address can be reached from other machines and there is no key; follows a colon. */
  readonly keyRequired: string
}

/** What a request must show. */
export interface AccessGuard {
  /** Whether a value of `Host`, in small letters, is one under which the server is known. */
  isOwnHost(host: string): boolean
  /** Some of those values, to tell people. */
  readonly hosts: readonly string[]
  readonly key: string | undefined
  /** Whether a guest of this machine may have sent the request, whose network leads it to our loopback. */
  mayBeGuest(request: Request): boolean
  /** The browsers that were let in by a link. */
  readonly passes: Passes | undefined
  readonly rules: Rules
}

/** The key of `Authorization: Bearer KEY` (RFC 6750, 2.1). */
export const bearerKey = (headers: Headers): string | undefined =>
  /^Bearer (.*)$/.exec(headers.get('authorization') ?? '')?.[1]

/**
 * Lets a request in, and gives what the answer must set as a cookie where the visitor came by a link.
 * Throws `foreign_host`, `foreign_origin`, `from_guest` or `unauthorized`.
 */
export const authorize = (request: Request, entry: AccessGuard): string | undefined => {
  refuseForeign(request, entry)
  const { key, passes, rules } = entry
  if (key !== undefined) {
    const shown = rules.keyIn(request.headers)
    if (shown !== undefined && isKey(shown, key)) return undefined
    if (isFromOwnPage(request)) {
      const cookies = request.headers.get('cookie') ?? ''
      if (passes?.isHeldBy(cookies)) return undefined
      if (rules.onlyLooks?.(request) && passes?.isHeldBy(cookies, 'look')) return undefined
    }
    const cookie = passes?.visit(linkOf(request, rules.pagePath))
    if (cookie !== undefined) return cookie
    if (!rules.needsNoKey(request)) throw new Failure('unauthorized', rules.texts.unauthorized)
  }
  if (entry.mayBeGuest(request)) throw new Failure('from_guest', rules.texts.fromGuest)
  return undefined
}

/**
 * Throws `foreign_host` or `foreign_origin`, which no key makes good. Pages of this machine on other ports are foreign
 * too: a browser calls them same-site, so that `Origin` (the Fetch standard, 3.2) is compared whole.
 */
const refuseForeign = ({ headers }: Request, { isOwnHost, hosts, rules }: AccessGuard): void => {
  const host = headers.get('host')?.toLowerCase() ?? ''
  if (!isOwnHost(host)) {
    throw new Failure(
      'foreign_host',
      `"${host}" is not an address of this service; ask for it at ${hosts.map((own) => `"${own}"`).join(' or ')}.`,
      { host },
    )
  }
  // A browser sends no origin with what a page of another site only shows or leads to, but says so (Fetch Metadata, 2.1).
  if (headers.get('sec-fetch-site') === 'cross-site') throw new Failure('foreign_origin', rules.texts.crossSite)
  const origin = headers.get('origin')
  if (origin !== null && origin !== `http://${host}`) {
    throw new Failure(
      'foreign_origin',
      `A page of "${origin}" may not use this service; call it from a program, without an \`Origin\` header.`,
      { origin },
    )
  }
}

/** A browser says its origin, which is ours then, with all that changes something; only what a page merely shows comes without. */
const isFromOwnPage = ({ method, headers }: Request): boolean =>
  headers.has('origin') || (method === 'GET' && headers.get('upgrade') === null)

const linkOf = ({ method, url }: Request, pagePath: string): string | undefined => {
  const { pathname, searchParams } = new URL(url)
  return method === 'GET' && pathname === pagePath ? (searchParams.get('link') ?? undefined) : undefined
}

/** Whether what somebody gave is the key; takes as long whatever it is. */
export const isKey = (given: string, key: string): boolean => timingSafeEqual(digest(given), digest(key))

const digest = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()
