/** A text that comes in pieces; of a long one the end is kept. */
export class KeptText {
  #pieces: string[] = []
  #length = 0
  /** Whether the beginning was let go of. */
  isCut = false

  constructor(
    /** Characters that are kept at least. */
    private readonly most: number,
  ) {}

  /** What is kept of it. */
  get text(): string {
    return this.#pieces.join('').slice(-this.most)
  }

  add(text: string): void {
    if (text === '') return
    this.#pieces.push(text)
    this.#length += text.length
    while (this.#length - (this.#pieces[0]?.length ?? 0) > this.most) {
      this.#length -= this.#pieces.shift()?.length ?? 0
      this.isCut = true
    }
  }
}
