/** Who may speak with the service: programs of this machine and holders of the key, but no web page that is not ours. */
import { timingSafeEqual } from 'node:crypto'
import { Failure } from '@backlot/contract/failure'

/** What a request must show. */
export interface Entry {
  /**
   * The values of `Host` under which the service is known, in small letters. Undefined beyond loopback, where nobody
   * knows them all: there the key keeps out a page that has given its own name our address.
   */
  readonly hosts: readonly string[] | undefined
  readonly key: string | undefined
}

/**
 * Throws `foreign_host`, `foreign_origin` or `unauthorized`. Pages of this machine on other ports are foreign too:
 * a browser calls them same-site, so that `Origin` (the Fetch standard, 3.2) is compared whole.
 */
export const admit = (headers: Headers, entry: Entry): void => {
  const host = headers.get('host')?.toLowerCase() ?? ''
  if (entry.hosts !== undefined && !entry.hosts.includes(host)) {
    throw new Failure(
      'foreign_host',
      `"${host}" is not an address of this service; ask for it at ${entry.hosts.map((own) => `"${own}"`).join(' or ')}.`,
      { host },
    )
  }
  const origin = headers.get('origin')
  if (origin !== null && !(entry.hosts ?? [host]).some((own) => origin === `http://${own}`)) {
    throw new Failure(
      'foreign_origin',
      `A page of "${origin}" may not use this service; call it from a program, without an \`Origin\` header.`,
      { origin },
    )
  }
  if (entry.key !== undefined && !isSame(headers.get('authorization') ?? '', `Bearer ${entry.key}`)) {
    throw new Failure('unauthorized', 'This service asks for its key; send it as `Authorization: Bearer KEY`.')
  }
}

const isSame = (given: string, wanted: string): boolean => {
  const [a, b] = [digest(given), digest(wanted)]
  return timingSafeEqual(a, b)
}

const digest = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()
