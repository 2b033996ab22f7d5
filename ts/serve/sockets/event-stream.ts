/** Sends what happens, as it happens (server-sent events, HTML standard 9.2). */

/** One event of a stream. */
export interface StreamedEvent {
  /** What `Last-Event-ID` names it by; absent where nobody can come back for it. */
  readonly id?: string
  /** The name that a page listens to; `message` when absent. */
  readonly type?: string
  /** Becomes JSON. */
  readonly data: unknown
}

/** Where the events of a stream go. */
export interface EventSink {
  send(event: StreamedEvent): void
  /** Nothing comes any more. */
  end(): void
}

/** Milliseconds between two signs of life, so that nothing between here and there takes the connection for dead. */
const signEveryMs = 15_000

/** Bytes that may wait for a client that does not read; it is let go of then, and may come back for what it missed. */
const mostWaitingBytes = 8_000_000

/**
 * The answer that streams what `follow` sends. It is given the `Last-Event-ID` of the request, sends what came after that
 * and each further event, and gives what to call when nobody listens any more.
 */
export const eventStream = (
  request: Request,
  follow: (last: string | undefined, sink: EventSink) => () => void,
): Response => {
  const last = request.headers.get('last-event-id') ?? undefined
  const encoder = new TextEncoder()
  let hasEnded = false
  let unfollow = () => {}
  let signs: Timer | undefined
  const end = () => {
    hasEnded = true
    clearInterval(signs)
    unfollow()
  }
  const source = {
    start(controller: ReadableStreamDefaultController<Uint8Array>) {
      const finish = () => {
        if (hasEnded) return
        end()
        controller.close()
      }
      const send = (text: string) => {
        if (hasEnded) return
        controller.enqueue(encoder.encode(text))
        if ((controller.desiredSize ?? 0) <= 0) finish()
      }
      // The first bytes tell the client that it follows from now on.
      send(': welcome\n\n')
      signs = setInterval(() => send(': still here\n\n'), signEveryMs)
      unfollow = follow(last, { send: (event) => send(frame(event)), end: finish })
      if (hasEnded) end()
    },
    cancel: end,
  }
  const stream = new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: mostWaitingBytes }))
  return new Response(stream, {
    headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
  })
}

const frame = ({ id, type, data }: StreamedEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`
