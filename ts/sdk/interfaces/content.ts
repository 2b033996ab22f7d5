/** What callers give to be written or read. */
import type { Bytes, Content } from '../basics.ts'
import { invalidArgument } from '../errors.ts'

/** Whether it comes bit by bit. */
export const isStream = (content: Content): content is ReadableStream<Uint8Array> =>
  typeof ReadableStream === 'function' && content instanceof ReadableStream

/** What a request takes as its body. Throws `invalid_argument` for anything else. */
export const bodyOf = (content: Content): Bytes | Blob | ReadableStream<Uint8Array> => {
  if (typeof content === 'string') return new TextEncoder().encode(content)
  if (content instanceof Uint8Array) return content as Bytes
  if (content instanceof Blob || isStream(content)) return content
  throw invalidArgument(
    'content',
    'The content is of no kind that can be written; give a string, bytes, a Blob or a ReadableStream.',
  )
}

/** Its pieces. */
export async function* piecesOf(content: Content): AsyncGenerator<Uint8Array> {
  const body = bodyOf(content)
  if (body instanceof Uint8Array) {
    yield body
    return
  }
  const reader = (body instanceof Blob ? body.stream() : body).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}
