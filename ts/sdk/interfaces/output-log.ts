/** What came so far, for any number of readers, each from the first piece that is kept. */

/** Pieces in their order; the oldest are let go of where more than `most` is kept. */
export class OutputLog<Piece> {
  #pieces: Piece[] = []
  /** Number of the first piece that is kept. */
  #first = 0
  #kept = 0
  /** Lengths of all pieces together, those that were let go of too. */
  #written = 0
  #hasEnded = false
  #error: unknown
  /** The numbers of the pieces that readers want next, and the lengths of those before. */
  readonly #readers = new Set<{ next: number; taken: number }>()
  #changed = newSignal()

  constructor(
    private readonly lengthOf: (piece: Piece) => number,
    private readonly most: number,
  ) {}

  /** Adds a piece. */
  add(piece: Piece): void {
    this.#pieces.push(piece)
    this.#kept += this.lengthOf(piece)
    this.#written += this.lengthOf(piece)
    while (this.#kept > this.most && this.#pieces.length > 1) {
      this.#kept -= this.lengthOf(this.#pieces.shift() as Piece)
      this.#first += 1
    }
    this.#tell()
  }

  /** Nothing follows; readers that come to the end are thrown the error, if there is one. */
  end(error?: unknown): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#error = error
    this.#tell()
  }

  /** Settles when no reader is behind by more than that. Where nobody reads, nobody is waited for. */
  async room(behind: number): Promise<void> {
    while (!this.#hasEnded && this.#behind() > behind) await this.#changed.promise
  }

  /** Reads from the first piece that is kept to the end. */
  async *read(): AsyncGenerator<Piece, undefined> {
    const reader = { next: this.#first, taken: this.#written - this.#kept }
    this.#readers.add(reader)
    try {
      for (;;) {
        reader.next = Math.max(reader.next, this.#first)
        reader.taken = Math.max(reader.taken, this.#written - this.#kept)
        const piece = this.#pieces[reader.next - this.#first]
        if (piece !== undefined) {
          reader.next += 1
          reader.taken += this.lengthOf(piece)
          this.#tell()
          yield piece
        } else if (this.#hasEnded) {
          if (this.#error !== undefined) throw this.#error
          return undefined
        } else {
          await this.#changed.promise
        }
      }
    } finally {
      this.#readers.delete(reader)
      this.#tell()
    }
  }

  #behind(): number {
    return Math.max(0, ...[...this.#readers].map(({ taken }) => this.#written - taken))
  }

  #tell(): void {
    const changed = this.#changed
    this.#changed = newSignal()
    changed.settle()
  }
}

const newSignal = (): { readonly promise: Promise<void>; settle(): void } => {
  let settle = () => {}
  const promise = new Promise<void>((done) => {
    settle = done
  })
  return { promise, settle: () => settle() }
}
