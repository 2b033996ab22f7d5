/** A stream of which so many bytes are taken at a time. */
export class ByteSource {
  readonly #stream: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer>) {
    this.#stream = stream[Symbol.asyncIterator]()
  }

  /** Between one byte and `most`; throws an `Error` where the stream has ended. */
  async some(most: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#stream.next()
      if (done) throw new Error('it breaks off')
      this.#rest = value
    }
    const part = this.#rest.subarray(0, most)
    this.#rest = this.#rest.subarray(part.length)
    return part
  }

  /** So many bytes; undefined where the stream ends before the first. */
  async take(bytes: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    for (let left = bytes; left > 0; ) {
      const part = await this.some(left).catch((error) => {
        if (parts.length === 0) return undefined
        throw error
      })
      if (part === undefined) return undefined
      parts.push(part)
      left -= part.length
    }
    return Buffer.concat(parts)
  }

  /** So many bytes; throws an `Error` where there are not as many. */
  async exactly(bytes: number): Promise<Buffer> {
    const taken = await this.take(bytes)
    if (taken === undefined) throw new Error('it breaks off')
    return taken
  }
}
