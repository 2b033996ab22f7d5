/** Secrets that are too short to be looked for everywhere: each is masked in its own call alone. */
import { secrets as limits } from '@backlot/contract/limits'
import { viewsOf } from './escapes.ts'
import { replaced } from './secrets.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Fields that hold what was typed, beside whatever stood there. */
const values: ReadonlySet<string> = new Set(['value', 'text'])

/** Fields that hold another text of the application. */
const labels: ReadonlySet<string> = new Set(['label', 'title', 'name', 'app_name'])

/** What an application says stands between quotation marks in all texts of ours; `value=` and `reads` precede a value. */
const quotation = /(?<value>value=|reads )?"(?<said>(?:[^"\\]|\\.)*)"/gs

/**
 * Secrets of fewer than four characters that a call told. They occur in other words: what is masked is what an application
 * or the caller says, and not the words of ours around it.
 */
export class ShortSecrets {
  readonly #texts = new Set<string>()

  /** True when there is nothing to mask. */
  get isEmpty(): boolean {
    return this.#texts.size === 0
  }

  /** Keeps the short ones among texts. */
  add(...texts: readonly string[]): void {
    for (const text of texts) {
      for (const form of [text, text.trim(), text.replace(/[\r\n]+/g, '')]) {
        if (form.length < limits.shortest && form.trim() !== '') this.#texts.add(form)
      }
    }
  }

  /** A text that an application says, without them; one character counts in a value, and elsewhere as a whole text. */
  masked(said: string, isValue: boolean): string {
    if (this.isEmpty) return said
    const ranges = viewsOf(said).flatMap((view) =>
      [...this.#texts].flatMap((secret) => {
        if (secret.length === 1 && !isValue && view.text !== secret) return []
        const found: [number, number][] = []
        for (let at = view.text.indexOf(secret); at !== -1; at = view.text.indexOf(secret, at + secret.length)) {
          found.push([view.from(at), view.to(at + secret.length - 1)])
        }
        return found
      }),
    )
    return replaced(said, ranges)
  }

  /** A sentence or a tree of ours, without them where it quotes what an application says. */
  maskedIn(text: string): string {
    if (this.isEmpty) return text
    return text.replace(quotation, (whole, before: string | undefined, said: string) => {
      const masked = this.masked(said, before !== undefined)
      return masked === said ? whole : `${before ?? ''}"${masked}"`
    })
  }

  /** A value of JSON without them. */
  without(value: unknown, field = ''): Json {
    if (typeof value === 'string') {
      if (values.has(field) || labels.has(field)) return this.masked(value, values.has(field))
      return this.#texts.has(value) ? this.masked(value, true) : this.maskedIn(value)
    }
    if (Array.isArray(value)) return value.map((each) => this.without(each, field))
    if (typeof value !== 'object' || value === null) return (value ?? null) as Json
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.without(each, name)]))
  }
}
