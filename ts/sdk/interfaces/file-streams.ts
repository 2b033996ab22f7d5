/** Files as they are sent and arrive, by the server's routes for them. */
import type { Bytes, CallOptions } from '../basics.ts'
import { followerOf, withDeadline } from '../deadline.ts'
import { eventsOf } from '../transports/events.ts'
import { readFrom, requestError } from '../transports/loss.ts'
import { retrying } from '../transports/retry.ts'
import type { RouteRequest, Routes } from '../transports/routes.ts'
import { allBytesOf, bytesOf } from './byte-stream.ts'

/** What happened to a path. */
export interface FileEvent {
  readonly type: 'created' | 'changed' | 'removed'
  readonly path: string
}

/** Which part of a file is read. */
export interface ReadOptions extends CallOptions {
  /** Bytes from the beginning. @default 0 */
  offset?: number
  /** Bytes. @default up to the end */
  length?: number
}

/** Reads and writes files whole. */
export class FileStreams {
  constructor(private readonly routes: Routes) {}

  /** The bytes of a file, or of a part of it. A lost answer is asked for once more. */
  whole(path: string, options: ReadOptions = {}): Promise<Bytes> {
    const { offset = 0, length } = options
    if (length === 0) return Promise.resolve(new Uint8Array())
    const isPart = offset !== 0 || length !== undefined
    const range = isPart ? { Range: `bytes=${offset}-${length === undefined ? '' : offset + length - 1}` } : {}
    return withDeadline(options, `Reading "${path}"`, (signal) =>
      retrying(true, signal, async () => {
        const request = { query: { path }, headers: range, signal }
        try {
          const response = await this.routes.fetch('/files', request)
          return await allBytesOf(bytesOf(response, this.routes.name, signal, () => undefined))
        } catch (error) {
          // The part begins at the end of the file or beyond.
          if (isPart && isUnsatisfiable(error)) return new Uint8Array()
          throw error
        }
      }),
    )
  }

  /** The answer of a route as it arrives; the limit is for its beginning, the signal for all of it. */
  async open(route: string, path: string, options: CallOptions = {}): Promise<ReadableStream<Bytes>> {
    const { ending, over } = followerOf(options.signal)
    try {
      const response = await withDeadline(options, `Reading "${path}"`, (limit) => {
        limit.addEventListener('abort', () => ending.abort(limit.reason), { once: true })
        return retrying(true, limit, () => this.routes.fetch(route, { query: { path }, signal: ending.signal }))
      })
      return bytesOf(response, this.routes.name, ending.signal, over)
    } catch (error) {
      over()
      throw error
    }
  }

  /** Sends what is to be written, once: by POST, as Bun's `fetch` repeats a lost PUT by itself. */
  async write(
    route: string,
    path: string,
    body: NonNullable<RouteRequest['body']>,
    options: CallOptions | undefined,
    query: NonNullable<RouteRequest['query']>,
  ): Promise<void> {
    await withDeadline(options, `Writing "${path}"`, async (signal) => {
      const response = await this.routes.fetch(route, { method: 'POST', query: { path, ...query }, body, signal })
      await readFrom(this.routes.name, signal, response.text())
    })
  }
}

const isUnsatisfiable = (error: unknown): boolean =>
  (error as { data?: { status?: unknown } } | undefined)?.data?.status === 416

/** What changes at a path, until the loop is left. Throws `connection_lost` where events may be missing. */
export async function* watchPath(
  routes: Routes,
  path: string,
  { signal: caller, recursive = false }: { signal?: AbortSignal; recursive?: boolean } = {},
): AsyncGenerator<FileEvent> {
  const { ending, over } = followerOf(caller)
  const { signal } = ending
  try {
    const response = await retrying(true, signal, () =>
      routes.fetch('/files/watch', { query: { path, recursive }, signal }),
    )
    for await (const event of eventsOf(response, routes.name, signal)) {
      const { path: changed, what, message } = JSON.parse(event.data) as Record<string, string>
      if (event.type === 'error') throw requestError({ message }, routes.name, signal)
      yield { type: what as FileEvent['type'], path: changed as string }
    }
    throw requestError({ message: 'the events ended' }, routes.name, signal)
  } finally {
    over()
    ending.abort(new Error('nobody watches any more'))
  }
}
