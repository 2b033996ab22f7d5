/** Films of the screen. */
import type { Bytes, CallOptions } from '../basics.ts'
import { followerOf, pause, withDeadline } from '../deadline.ts'
import { invalidArgument, NotFoundError } from '../errors.ts'
import { node } from '../node.ts'
import { readFrom } from '../transports/loss.ts'
import { retrying } from '../transports/retry.ts'
import type { Routes } from '../transports/routes.ts'
import type { Transport } from '../transports/transport.ts'
import { allBytesOf, bytesOf, streamOf } from './byte-stream.ts'
import { routesFor } from './need-routes.ts'

/** Films of the screen. */
export interface Films {
  /** Begins one, H.264 in MP4; `framesPerSecond` is 1 to 60 (30). */
  start(options?: CallOptions & { framesPerSecond?: number }): Promise<Film>
}

/** One film; disposed, it ends. */
export interface Film extends AsyncDisposable {
  readonly id: string
  /** Ends it. */
  stop(options?: CallOptions): Promise<{ readonly durationMs: number; readonly sizeBytes: number }>
  /** All of it, while it grows. */
  stream(options?: CallOptions): Promise<ReadableStream<Bytes>>
  /** Ends it, and writes it to a file of the caller's. */
  saveAs(path: string, options?: CallOptions): Promise<void>
}

/** What a server tells of a film. */
interface FilmRecord {
  readonly id: string
  readonly running: boolean
  readonly bytes: number
  readonly film: { readonly seconds: number } | null
}

/** Milliseconds between two looks at whether a film has grown. */
const pollIntervalMs = 200

/** The films behind a transport. */
export const filmsOf = (transport: Transport): Films => ({
  async start(options = {}) {
    const { framesPerSecond: fps = 30 } = options
    if (!Number.isInteger(fps) || fps < 1 || fps > 60) {
      throw invalidArgument('framesPerSecond', `"framesPerSecond" is ${fps}; it takes 1 to 60.`)
    }
    const routes = routesFor(transport, 'A film')
    const { id } = await withDeadline(options, 'Beginning a film', async (signal) =>
      recordOf(await routes.fetch('/film', { method: 'POST', json: { fps }, signal }), routes, signal),
    )
    return new RunningFilm(routes, id)
  },
})

const recordOf = (response: Response, routes: Routes, signal: AbortSignal): Promise<FilmRecord> =>
  readFrom(routes.name, signal, response.json() as Promise<FilmRecord>)

class RunningFilm implements Film {
  readonly #path: string

  constructor(
    private readonly routes: Routes,
    readonly id: string,
  ) {
    this.#path = `/film/${encodeURIComponent(id)}`
  }

  async stop(options?: CallOptions): Promise<{ readonly durationMs: number; readonly sizeBytes: number }> {
    const { bytes, film } = await withDeadline(options, `Ending film "${this.id}"`, (signal) =>
      // Ending it twice is fine.
      retrying(true, signal, async () =>
        recordOf(await this.routes.fetch(this.#path, { method: 'DELETE', signal }), this.routes, signal),
      ),
    )
    return { durationMs: Math.round((film?.seconds ?? 0) * 1_000), sizeBytes: bytes }
  }

  async stream(options?: CallOptions): Promise<ReadableStream<Bytes>> {
    // What is wrong is said now, not by the stream.
    await withDeadline(options, `Film "${this.id}"`, (signal) => this.#state(signal))
    const { ending, over } = followerOf(options?.signal)
    const pieces = this.#grow(ending.signal)
    const leave = (reason: unknown) => ending.abort(reason ?? new Error('the stream was left'))
    return streamOf(() => pieces.next(), leave, over)
  }

  async saveAs(path: string, options?: CallOptions): Promise<void> {
    const { saveFile } = await node('Writing a film to a file', () => import('../local/copy.ts'))
    await withDeadline(options, `Saving film "${this.id}"`, async (signal) => {
      await this.stop({ signal, timeoutMs: Number.POSITIVE_INFINITY })
      const response = await retrying(true, signal, () => this.routes.fetch(this.#path, { signal }))
      await saveFile(
        path,
        bytesOf(response, this.routes.name, signal, () => undefined),
        signal,
      )
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #state(signal: AbortSignal): Promise<FilmRecord> {
    const response = await retrying(true, signal, () => this.routes.fetch('/film', { signal }))
    const read = response.json() as Promise<{ films: FilmRecord[] }>
    const { films } = await readFrom(this.routes.name, signal, read)
    const found = films.find(({ id }) => id === this.id)
    if (found !== undefined) return found
    throw new NotFoundError('file_not_found', `Film "${this.id}" is not on the computer any more.`, {
      data: { id: this.id },
    })
  }

  /** Its bytes, as far as they are written each time. */
  async *#grow(signal: AbortSignal): AsyncGenerator<Bytes, undefined> {
    for (let position = 0; ; ) {
      const { bytes, running } = await this.#state(signal)
      if (bytes > position) {
        const range = { Range: `bytes=${position}-${bytes - 1}` }
        const part = await retrying(true, signal, async () => {
          const response = await this.routes.fetch(this.#path, { headers: range, signal })
          return allBytesOf(bytesOf(response, this.routes.name, signal, () => undefined))
        })
        position += part.byteLength
        yield part
      } else if (running) await pause(pollIntervalMs, signal)
      else return undefined
    }
  }
}
