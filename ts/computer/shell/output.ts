/** What a program writes to a pipe, as text; the end of it where it is longer than is kept. */
import { KeptText } from './kept-text.ts'

/** Event-loop turns in which a pipe that has something to give says so: the system is asked once in each. */
const turns = 3

/** Reads a pipe from now on. */
export class Output {
  readonly #reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> }
  readonly #decoder = new TextDecoder()
  readonly #reading: Promise<void>
  /** Undefined once nothing is kept any more. */
  #kept: KeptText | undefined
  #pieces = 0
  #hasEnded = false
  /** Settles when what was told of last was taken. */
  #telling: Promise<void> = Promise.resolve()

  /** Keeps so many characters at least, and tells of all as it comes. */
  constructor(
    pipe: ReadableStream<Uint8Array>,
    most: number,
    private readonly report: (text: string) => Promise<void> | void,
  ) {
    this.#kept = new KeptText(most)
    this.#reader = pipe.getReader()
    this.#reading = this.#read().catch(() => {
      if (this.#kept !== undefined) this.#kept.isCut = true
    })
  }

  /** Whether what is kept is not all: the beginning was let go of, or the pipe could not be read to its end. */
  get isCut(): boolean {
    return this.#kept?.isCut ?? true
  }

  /** What is kept of it; what is no UTF-8 is U+FFFD. */
  get text(): string {
    return this.#kept?.text ?? ''
  }

  /**
   * Settles when all that was written before is read. A program that goes on in the background keeps the pipe open, so
   * that its end cannot be waited for.
   */
  async drain(): Promise<void> {
    for (;;) {
      const before = this.#pieces
      await this.#telling
      for (let turn = 0; turn < turns && !this.#hasEnded; turn++) {
        await Promise.race([this.#reading, new Promise((settle) => setImmediate(settle))])
      }
      if (this.#hasEnded || this.#pieces === before) break
    }
    const rest = this.#decoder.decode()
    this.#kept?.add(rest)
    await this.#tell(rest)
  }

  /** Keeps nothing from now on. The pipe is read to its end: a program in the background that wrote to it would die. */
  forget(): void {
    this.#kept = undefined
  }

  async #read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done || value === undefined) break
      this.#pieces += 1
      const text = this.#decoder.decode(value, { stream: true })
      this.#kept?.add(text)
      await this.#tell(text)
    }
    this.#hasEnded = true
  }

  /** Tells of it, and waits for whoever is told. */
  async #tell(text: string): Promise<void> {
    if (text === '' || this.#kept === undefined) return
    this.#telling = Promise.resolve(this.report(text))
    await this.#telling
  }
}
