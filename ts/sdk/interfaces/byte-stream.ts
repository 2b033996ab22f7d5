/** The bytes of an answer as they arrive. */
import type { Bytes } from '../basics.ts'
import { readFrom } from '../transports/loss.ts'

/** The body of an answer, whose losses are errors of ours; who leaves it early ends the request. */
export const bytesOf = (
  response: Response,
  where: string,
  signal: AbortSignal,
  ended: () => void,
): ReadableStream<Bytes> => {
  const reader = (response.body ?? new Blob([]).stream()).getReader()
  return streamOf(
    () => readFrom(where, signal, reader.read()),
    (reason) => reader.cancel(reason).catch(() => undefined),
    ended,
  )
}

/** A stream whose pieces are read one by one as they are asked for; `leave` is for who leaves it early, `ended` for every end. */
export const streamOf = (
  read: () => Promise<{ readonly done?: boolean; readonly value?: Bytes | undefined }>,
  leave: (reason: unknown) => unknown,
  ended: () => void,
): ReadableStream<Bytes> =>
  new ReadableStream<Bytes>(
    {
      async pull(controller) {
        try {
          const { done, value } = await read()
          if (!done) return controller.enqueue(value)
          ended()
          controller.close()
        } catch (error) {
          ended()
          controller.error(error)
        }
      },
      async cancel(reason) {
        ended()
        await leave(reason)
      },
    },
    { highWaterMark: 0 },
  )

/** All bytes of a stream. */
export const allBytesOf = async (stream: ReadableStream<Bytes>): Promise<Bytes> => {
  const pieces: Bytes[] = []
  let length = 0
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    pieces.push(value)
    length += value.byteLength
  }
  const [only] = pieces
  if (only !== undefined && pieces.length === 1 && only.byteLength === only.buffer.byteLength) return only
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}
