/** The output of a command in a shell that goes on: it ends where a mark stands that no output holds by chance. */

/** The byte with which every mark begins; what follows it may be the mark, and is held back. */
const first = '\x01'

/** A mark that no other command has. */
export const newMark = (): string => `${first}${crypto.randomUUID()}`

/** Text of one stream, as it comes; of a long one the end is kept. */
export class MarkedOutput {
  readonly #decoder = new TextDecoder()
  #kept: string[] = []
  #length = 0
  #held = ''
  /** What followed the mark on its line; undefined until that has come. */
  after: string | undefined
  /** Whether the beginning was let go of. */
  isCut = false

  constructor(
    private readonly mark: string,
    /** Characters that are kept at least. */
    private readonly most: number,
  ) {}

  /** What is kept of it; what is no UTF-8 is U+FFFD. */
  get text(): string {
    return this.#kept.join('').slice(-this.most)
  }

  /** Takes bytes; gives the text that is known to be output. */
  take(bytes: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(bytes, { stream: true })
    const at = text.indexOf(this.mark)
    if (at >= 0) {
      const end = text.indexOf('\n', at)
      this.#held = end < 0 ? text.slice(at) : ''
      if (end >= 0) this.after = text.slice(at + this.mark.length, end).trim()
      return this.#keep(text.slice(0, at))
    }
    const last = text.lastIndexOf(first)
    const isMaybe = last >= 0 && this.mark.startsWith(text.slice(last))
    this.#held = isMaybe ? text.slice(last) : ''
    return this.#keep(isMaybe ? text.slice(0, last) : text)
  }

  /** The stream has ended without the mark: what was held back is output. */
  end(): string {
    const rest = this.#held + this.#decoder.decode()
    this.#held = ''
    return this.#keep(rest)
  }

  #keep(text: string): string {
    if (text === '') return ''
    this.#kept.push(text)
    this.#length += text.length
    while (this.#length - (this.#kept[0]?.length ?? 0) > this.most) {
      this.#length -= this.#kept.shift()?.length ?? 0
      this.isCut = true
    }
    return text
  }
}
