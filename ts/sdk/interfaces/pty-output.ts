/** The output of a terminal, read as a stream that is taken up again where it broke off. */
import { fromBase64 } from '../base64.ts'
import type { Fields } from '../basics.ts'
import { pause } from '../deadline.ts'
import { BacklotError } from '../errors.ts'
import { eventsOf } from '../transports/events.ts'
import { connectionLost } from '../transports/loss.ts'
import type { Routes } from '../transports/routes.ts'

/** Characters of output that are kept here. */
const keptLength = 1024 * 1024

/** How often a lost stream is opened again before it counts as lost, and milliseconds before the first time. */
const tries = 4
const betweenMs = 100

/** What a terminal writes: it is read from when somebody first wants it, with what the server has kept before it. */
export class PtyOutput {
  #text = ''
  /** Characters before those that are kept. */
  #before = 0
  #isReading = false
  #exitCode: number | undefined
  #error: unknown
  #wake = () => {}
  #changed = this.#next()
  readonly #ending = new AbortController()

  constructor(
    private readonly routes: Routes,
    private readonly pid: number,
  ) {}

  /** Characters so far. */
  get length(): number {
    return this.#before + this.#text.length
  }

  /** The exit status of a terminal whose output has ended. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  /** What follows a number of characters, as far as it is kept. */
  after(position: number): string {
    return this.#text.slice(Math.max(0, position - this.#before))
  }

  /** Settles when there is more than that many characters; false where nothing follows. Throws what ended the stream. */
  async more(position: number): Promise<boolean> {
    this.#begin()
    while (this.length <= position) {
      if (this.#error !== undefined) throw this.#error
      if (this.#exitCode !== undefined || this.#ending.signal.aborted) return false
      await this.#changed
    }
    return true
  }

  /** Reads no more. */
  stop(): void {
    this.#ending.abort(new Error('the terminal was closed'))
    this.#tell()
  }

  #begin(): void {
    if (this.#isReading) return
    this.#isReading = true
    void this.#read().catch((error: unknown) => {
      if (!this.#ending.signal.aborted) this.#error = error
      this.#tell()
    })
  }

  async #read(): Promise<void> {
    const { signal } = this.#ending
    const decoder = new TextDecoder()
    const where = this.routes.name
    let last = ''
    for (let failed = 0; ; ) {
      try {
        const headers: Record<string, string> = last === '' ? {} : { 'Last-Event-ID': last }
        const response = await this.routes.fetch(`/pty/${this.pid}/stream`, { headers, signal })
        for await (const { id, data } of eventsOf(response, where, signal)) {
          failed = 0
          const frame = JSON.parse(data) as Fields
          if (frame.type === 'exit') {
            this.#add(decoder.decode())
            this.#exitCode = Number(frame.code)
            this.#tell()
            return
          }
          last = id
          this.#add(decoder.decode(fromBase64(String(frame.data)), { stream: true }))
        }
        throw connectionLost(where, 'the output broke off')
      } catch (error) {
        const mayComeBack = BacklotError.is(error) && (error.code === 'connection_lost' || error.code === 'unreachable')
        if (!mayComeBack || ++failed >= tries) throw error
        await pause(betweenMs * 2 ** (failed - 1), signal)
      }
    }
  }

  #add(text: string): void {
    this.#text += text
    const excess = this.#text.length - keptLength
    if (excess > 0) {
      this.#text = this.#text.slice(excess)
      this.#before += excess
    }
    this.#tell()
  }

  #next(): Promise<void> {
    return new Promise((settle) => {
      this.#wake = settle
    })
  }

  #tell(): void {
    const wake = this.#wake
    this.#changed = this.#next()
    wake()
  }
}
