/** Sends what happens on the host, as it happens (server-sent events, HTML standard 9.2). */
import type { NumberedEvent } from '../events.ts'
import type { Host } from '../host.ts'

/** Milliseconds between two signs of life, so that nothing between here and there takes the connection for dead. */
const signEveryMs = 15_000

/** Bytes that may wait for a client that does not read; it is let go of then, and may come back for what it missed. */
const mostWaitingBytes = 8_000_000

/** The stream of events; begins after the one that `Last-Event-ID` names. */
export const eventStream = (request: Request, { events }: Pick<Host, 'events'>): Response => {
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
      const send = (text: string) => {
        if (hasEnded) return
        controller.enqueue(encoder.encode(text))
        if ((controller.desiredSize ?? 0) > 0) return
        end()
        controller.close()
      }
      // The first bytes tell the client that it follows from now on.
      send(': welcome\n\n')
      signs = setInterval(() => send(': still here\n\n'), signEveryMs)
      unfollow = events.follow(last, (event) => send(frame(event)))
      if (hasEnded) end()
    },
    cancel: end,
  }
  const stream = new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: mostWaitingBytes }))
  return new Response(stream, {
    headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
  })
}

const frame = ({ id, event }: NumberedEvent): string =>
  `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
