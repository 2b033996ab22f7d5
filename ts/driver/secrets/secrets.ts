/** What the driver was told to keep to itself, and the mask that stands in its place in all that it says afterwards. */
import { secrets as limits } from '@backlot/contract/limits'
import { type View, viewsOf } from './escapes.ts'

/** What stands in place of a secret, however long that is. */
export const mask = '••••••••'

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Half-open, in code units of a text. */
type Range = readonly [from: number, to: number]

/**
 * Texts that stay in the memory of the driver for as long as it runs. A text is searched as it stands and as it reads
 * without its escapes; any part of a secret that is as long as `limits.part` is masked, so that one that was cut,
 * trimmed or split over lines is found too. Secrets shorter than `limits.shortest` occur in other words, and are not kept.
 */
export class Secrets {
  /** Parts of long secrets, and whole short ones, by their length. */
  readonly #byLength = new Map<number, Set<string>>()
  /** Which first characters they have, by a hash: nearly all positions of a text are passed by at once. */
  readonly #beginnings = new Uint8Array(65_536)

  /** True when there is nothing to mask. */
  get isEmpty(): boolean {
    return this.#byLength.size === 0
  }

  /** Keeps texts from now on. */
  add(...texts: readonly string[]): void {
    for (const text of texts) for (const form of formsOf(text)) this.#learn(form)
  }

  /** A text without them. */
  masked(text: string): string {
    return replaced(text, this.#rangesIn(text))
  }

  /** A tree without them, as Markdown: only what the application says is masked, not the tags and roles around it. */
  maskedTree(markdown: string): string {
    const ranges = this.#rangesIn(markdown)
    if (ranges.length === 0) return markdown
    const ours = [...markdown.matchAll(lineHead)].map(({ index, 0: head }): Range => [index, index + head.length])
    return replaced(
      markdown,
      ranges.flatMap((range) => outside(range, ours)),
    )
  }

  /**
   * A value of JSON in which no string, and no name of a field, holds one. Numbers and words of JSON stay: they are ours.
   */
  without(value: unknown): Json {
    if (typeof value === 'string') return this.masked(value)
    if (Array.isArray(value)) return value.map((each) => this.without(each))
    if (typeof value !== 'object' || value === null) return (value ?? null) as Json
    const isElement = 'element_index' in value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]): [string, Json] => {
        if (name === 'tree_markdown' && typeof each === 'string') return [name, this.maskedTree(each)]
        // The role of an element is a word of the accessibility bus.
        if (isElement && name === 'role' && typeof each === 'string' && /^[a-z ]{1,30}$/.test(each)) return [name, each]
        return [this.masked(name), this.without(each)]
      }),
    )
  }

  /** A value of JSON that an application made, in which no string, number or word holds one. */
  withoutAny(value: unknown): Json {
    if (typeof value === 'number' || typeof value === 'boolean') {
      return this.masked(String(value)) === String(value) ? value : mask
    }
    if (Array.isArray(value)) return value.map((each) => this.withoutAny(each))
    if (typeof value !== 'object' || value === null) return this.without(value)
    return Object.fromEntries(
      Object.entries(value).map(([name, each]): [string, Json] => [this.masked(name), this.withoutAny(each)]),
    )
  }

  #learn(text: string): void {
    const length = Math.min(text.length, limits.part)
    const known = this.#byLength.get(length) ?? new Set()
    this.#byLength.set(length, known)
    for (let at = 0; at + length <= text.length; at += 1) {
      known.add(text.slice(at, at + length))
      this.#beginnings[beginning(text, at)] = 1
    }
  }

  #rangesIn(text: string): readonly Range[] {
    if (this.isEmpty) return []
    return viewsOf(text).flatMap((view) => this.#rangesInView(view))
  }

  #rangesInView(view: View): Range[] {
    const plain = spaced(view.text)
    const found: Range[] = []
    for (let from = 0; from + limits.shortest <= plain.length; from += 1) {
      if (this.#beginnings[beginning(plain, from)] === 0) continue
      for (const [length, known] of this.#byLength) {
        if (from + length <= plain.length && known.has(plain.slice(from, from + length))) {
          found.push([view.from(from), view.to(from + length - 1)])
        }
      }
    }
    return found
  }
}

/** The beginning of a line of a tree: its tag and the role of its element. */
const lineHead =
  /^[ +~*-]*- (?:\[(?:element_index )?\d{1,6}\] [a-z ]{1,30}(?=$| "| value="| \[actions=)|[a-z ]{1,30} = )/gm

/** Characters for which trees and fields put others are compared as spaces. */
const spaced = (text: string): string => text.replace(/[\s\p{Cc}]/gu, ' ')

/** A secret as it was given, as fields trim it, and as fields of one line take it. */
const formsOf = (secret: string): readonly string[] => {
  const whole = secret.slice(0, limits.longest)
  const forms = [whole, whole.trim(), whole.replace(/[\r\n]+/g, '')].map(spaced)
  // The mask itself stands in recordings that are read again.
  return [...new Set(forms)].filter((form) => form.length >= limits.shortest && form.trim() !== '' && form !== mask)
}

const beginning = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & 0xffff

const outside = ([from, to]: Range, kept: readonly Range[]): Range[] => {
  let rest = from
  const parts: Range[] = []
  for (const [start, end] of kept) {
    if (end <= rest || start >= to) continue
    if (start > rest) parts.push([rest, start])
    rest = Math.max(rest, end)
  }
  return rest < to ? [...parts, [rest, to]] : parts
}

/** A text with a mask for each range of it, and for those that touch one. */
export const replaced = (text: string, ranges: readonly Range[]): string => {
  if (ranges.length === 0) return text
  let [out, done] = ['', 0]
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    if (from > done || out === '') out += `${text.slice(done, from)}${mask}`
    done = Math.max(done, to)
  }
  return (out + text.slice(done)).toWellFormed()
}
