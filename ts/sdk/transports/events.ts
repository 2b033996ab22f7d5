/** Server-sent events (HTML standard, 9.2). */
import { connectionLost, readFrom } from './loss.ts'

/** One event. */
export interface ServerEvent {
  readonly type: string
  /** Empty where it has none. */
  readonly id: string
  readonly data: string
}

/** The events of an answer as they come; one that has not ended is left out. Throws what a lost connection means. */
export async function* eventsOf(response: Response, where: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const reader = readerOf(response, where)
  const decoder = new TextDecoder()
  let text = ''
  let before = ''
  try {
    for (;;) {
      const { done, value } = await readFrom(where, signal, reader.read())
      if (signal.aborted) throw signal.reason
      if (done) return
      const piece = decoder.decode(value, { stream: true })
      if (piece === '') continue
      text += piece
      // Long events come in many pieces: the whole is looked through only once its end is there.
      const hasEnd = piece.includes('\n\n') || (before === '\n' && piece.startsWith('\n'))
      before = piece.slice(-1)
      if (!hasEnd) continue
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) {
        const event = eventOf(frame)
        if (event !== undefined) yield event
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}

const readerOf = (response: Response, where: string) => {
  if (response.body === null) throw connectionLost(where, 'the answer has no body')
  return response.body.getReader()
}

/** The event of a frame; undefined for a comment, which is a sign of life. */
const eventOf = (frame: string): ServerEvent | undefined => {
  let type = 'message'
  let id = ''
  const data: string[] = []
  for (const line of frame.split('\n')) {
    if (line.startsWith('data: ')) data.push(line.slice('data: '.length))
    else if (line.startsWith('event: ')) type = line.slice('event: '.length)
    else if (line.startsWith('id: ')) id = line.slice('id: '.length)
  }
  return data.length === 0 ? undefined : { type, id, data: data.join('\n') }
}
