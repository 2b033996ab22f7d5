/** How a browser is let in without the key: by a link that works once, and a cookie from then on. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { consoleAccess } from '@backlot/contract/limits'

/** What a browser that was let in may do: all that the key lets one do, or look on. */
export type AccessRight = 'act' | 'look'

/**
 * The links and cookies of a server that asks for a key. Links are remembered until they are used or too old, so that
 * those of an earlier run are void; a cookie is its end and a proof of the key, so that it outlives a restart. Both are void
 * once the key is another.
 */
export class Passes {
  readonly #links = new Map<string, { readonly end: number; readonly right: AccessRight; readonly key: string }>()
  /** Their names: cookies go to every port of a machine, and servers there must not overwrite each other's. */
  readonly #cookies: Readonly<Record<AccessRight, string>>

  constructor(
    /** Gives the key that holds now. */
    readonly key: () => string,
    /** What the cookies are for; proofs of one realm are none in another. */
    readonly realm: string,
    port: number,
    readonly now: () => number = Date.now,
  ) {
    this.#cookies = { act: `backlot-${port}`, look: `backlot-look-${port}` }
  }

  /** A new link's secret, for the `link` of the page's address. */
  newLink(right: AccessRight = 'act'): string {
    for (const [link, { end }] of this.#links) if (end < this.now()) this.#links.delete(link)
    const key = this.key()
    const seed = crypto.getRandomValues(new Uint8Array(24))
    // Forks of a VM may draw the same numbers; their keys are not the same.
    const link = createHmac('sha256', key).update(seed).digest().subarray(0, 24).toString('base64url')
    this.#links.set(link, { end: this.now() + consoleAccess.linkMs, right, key })
    return link
  }

  /** Uses a link up: the value of `Set-Cookie` for whoever came by it; undefined where it is unknown, used or old. */
  visit(link: string | undefined): string | undefined {
    const known = link === undefined ? undefined : this.#links.get(link)
    if (link === undefined || known === undefined) return undefined
    const { end, right } = known
    this.#links.delete(link)
    if (end < this.now() || known.key !== this.key()) return undefined
    const passEnd = Math.floor(this.now() / 1000) + consoleAccess.passSeconds
    const value = `${passEnd}.${this.#proof(passEnd, right)}`
    return `${this.#cookies[right]}=${value}; Path=/; Max-Age=${consoleAccess.passSeconds}; HttpOnly; SameSite=Strict`
  }

  /** Whether a `Cookie` header holds a cookie of ours, for that right alone, that is still good. */
  isHeldBy(cookies: string, right: AccessRight = 'act'): boolean {
    return cookies.split(/;\s*/).some((cookie) => {
      const [, end, proof] = new RegExp(`^${this.#cookies[right]}=(\\d{1,12})\\.([\\w-]{43})$`).exec(cookie) ?? []
      if (end === undefined || proof === undefined || Number(end) * 1000 < this.now()) return false
      return timingSafeEqual(Buffer.from(proof), Buffer.from(this.#proof(Number(end), right)))
    })
  }

  #proof(end: number, right: AccessRight): string {
    const what = right === 'act' ? this.realm : `${this.realm} to ${right}`
    return createHmac('sha256', this.key()).update(`backlot ${what} until ${end}`).digest('base64url')
  }
}
