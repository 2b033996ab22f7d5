/** The output of a command in a shell that goes on: it ends where a mark stands that no output holds by chance. */
import { KeptText } from '../../../shell/kept-text.ts'

/** The byte with which every mark begins; what follows it may be the mark, and is held back. */
const first = '\x01'

/** A mark that no other command has. */
export const newMark = (): string => `${first}${crypto.randomUUID()}`

/** Text of one stream, as it comes; of a long one the end is kept. */
export class MarkedOutput {
  readonly #decoder = new TextDecoder()
  readonly #kept: KeptText
  #held = ''
  /** What followed the mark on its line; undefined until that has come. */
  after: string | undefined

  /** Keeps so many characters at least. */
  constructor(
    private readonly mark: string,
    most: number,
  ) {
    this.#kept = new KeptText(most)
  }

  /** Whether the beginning was let go of. */
  get isCut(): boolean {
    return this.#kept.isCut
  }

  /** What is kept of it; what is no UTF-8 is U+FFFD. */
  get text(): string {
    return this.#kept.text
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
    this.#kept.add(text)
    return text
  }
}
