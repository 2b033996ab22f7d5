/** Sends what happens on the host, as it happens (server-sent events, HTML standard 9.2). */
import type { NumberedEvent } from '../events.ts'
import type { Host } from '../host.ts'

/** Milliseconds between two signs of life, so that nothing between here and there takes the connection for dead. */
const signEveryMs = 15_000

/** The stream of events; begins after the one that `Last-Event-ID` names. */
export const eventStream = (request: Request, { events }: Pick<Host, 'events'>): Response => {
  const last = request.headers.get('last-event-id') ?? undefined
  const encoder = new TextEncoder()
  let end = () => {}
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => controller.enqueue(encoder.encode(text))
      // The first bytes tell the client that it follows from now on.
      send(': welcome\n\n')
      const unfollow = events.follow(last, (event) => send(frame(event)))
      const signs = setInterval(() => send(': still here\n\n'), signEveryMs)
      end = () => {
        clearInterval(signs)
        unfollow()
      }
    },
    cancel: () => end(),
  })
  return new Response(stream, {
    headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
  })
}

const frame = ({ id, event }: NumberedEvent): string =>
  `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
