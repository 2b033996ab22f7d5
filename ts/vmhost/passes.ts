/** How a browser is let in without the token: by a link that works once, and a cookie from then on. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { consoleAccess } from '@backlot/contract/limits'

/**
 * The links and cookies of a service that asks for a token. Links are remembered until they are used or too old, so
 * that those of an earlier run are void; a cookie is its end and a proof of the token, so that it outlives a restart
 * and is void once the token is another.
 */
export class Passes {
  readonly #links = new Map<string, number>()
  /** Cookies go to every port of a machine: services there must not overwrite each other's. */
  readonly #cookie: string

  constructor(
    readonly token: string,
    port: number,
    readonly now: () => number = Date.now,
  ) {
    this.#cookie = `backlot-${port}`
  }

  /** A new link's secret, for the `link` of the console's address. */
  newLink(): string {
    for (const [link, end] of this.#links) if (end < this.now()) this.#links.delete(link)
    const link = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url')
    this.#links.set(link, this.now() + consoleAccess.linkMs)
    return link
  }

  /** Uses a link up: the value of `Set-Cookie` for whoever came by it; undefined where it is unknown, used or old. */
  visit(link: string | undefined): string | undefined {
    const end = link === undefined ? undefined : this.#links.get(link)
    if (link === undefined || end === undefined) return undefined
    this.#links.delete(link)
    if (end < this.now()) return undefined
    const passEnd = Math.floor(this.now() / 1000) + consoleAccess.passSeconds
    const value = `${passEnd}.${this.#proof(passEnd)}`
    return `${this.#cookie}=${value}; Path=/; Max-Age=${consoleAccess.passSeconds}; HttpOnly; SameSite=Strict`
  }

  /** Whether a `Cookie` header holds a cookie of ours that is still good. */
  isHeldBy(cookies: string): boolean {
    return cookies.split(/;\s*/).some((cookie) => {
      const [, end, proof] = new RegExp(`^${this.#cookie}=(\\d{1,12})\\.([\\w-]{43})$`).exec(cookie) ?? []
      if (end === undefined || proof === undefined || Number(end) * 1000 < this.now()) return false
      return timingSafeEqual(Buffer.from(proof), Buffer.from(this.#proof(Number(end))))
    })
  }

  #proof(end: number): string {
    return createHmac('sha256', this.token).update(`backlot console until ${end}`).digest('base64url')
  }
}
