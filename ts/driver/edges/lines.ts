/** Cuts a stream of bytes into lines of UTF-8 text, holding no more than the limit. */

/** A line without its end, or why it could not be read. */
export type Line = { readonly text: string } | { readonly problem: 'too_long' | 'not_utf8' }

/** Gives each line to `onLine` as soon as it is complete; `\r\n` ends a line too. */
export class LineReader {
  #held: Uint8Array[] = []
  #heldBytes = 0
  #skipping = false
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  constructor(
    private readonly limitBytes: number,
    private readonly onLine: (line: Line) => void,
  ) {}

  /** Takes the next bytes; they may be reused by the caller afterwards. */
  push(chunk: Uint8Array): void {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#finish(chunk.subarray(from, end))
      from = end + 1
    }
    this.#hold(chunk.subarray(from))
  }

  /** Gives what stands after the last line end, if anything does. */
  end(): void {
    if (this.#heldBytes > 0 || this.#skipping) this.#finish(new Uint8Array())
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#skipping) return
    if (this.#heldBytes + bytes.length > this.limitBytes) {
      this.#forget()
      this.#skipping = true
      return
    }
    this.#held.push(bytes.slice())
    this.#heldBytes += bytes.length
  }

  #finish(tail: Uint8Array): void {
    const tooLong = this.#skipping || this.#heldBytes + tail.length > this.limitBytes
    const bytes = tooLong || this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail])
    this.#forget()
    this.#skipping = false
    this.onLine(tooLong ? { problem: 'too_long' } : this.#decode(bytes))
  }

  #decode(bytes: Uint8Array): Line {
    try {
      const text = this.#decoder.decode(bytes)
      return { text: text.endsWith('\r') ? text.slice(0, -1) : text }
    } catch {
      return { problem: 'not_utf8' }
    }
  }

  #forget(): void {
    this.#held = []
    this.#heldBytes = 0
  }
}
