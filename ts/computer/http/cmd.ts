/** `POST /cmd`: one command, answered by one server-sent event (HTML standard, 9.2) that carries JSON. */
import { Queue } from '@backlot/contract/queue'
import { type Computer, runCommand, unknownCommand } from '../command/run.ts'
import { isJsonRequest, readText } from './body.ts'

const refuse = (detail: string, status = 400): Response => Response.json({ detail }, { status })

/** Answers with one frame as plain text; a caller that accepts an event stream gets the output of the command before it. */
export const answerCommand = async (computer: Computer, request: Request): Promise<Response> => {
  // A page may send such a body without asking the server first (Fetch standard, 3.2.5).
  if (request.headers.has('origin') && !isJsonRequest(request)) {
    return refuse('A page must send JSON, as application/json.', 415)
  }
  let message: unknown
  try {
    message = JSON.parse(await readText(request))
  } catch (error) {
    return refuse(`Invalid JSON body: ${(error as Error).message}`)
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return refuse('Invalid JSON body: it is no object')
  }
  const { command, params } = message as Readonly<Record<string, unknown>>
  if (typeof command !== 'string' || command === '') return refuse('Command is required')
  const { signal } = request
  const accepts = request.headers.get('accept') ?? ''
  if (accepts.toLowerCase().includes('text/event-stream')) return streamed(computer, command, params, signal)
  const answer = await runCommand(computer, command, params, { signal })
  if (answer === undefined) return refuse(unknownCommand(command))
  return new Response(frame(answer), { headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
}

const frame = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`

/** Bytes of output that may wait for the caller; the command waits for it then, as at a full pipe. */
export const mostWaitingBytes = 1024 * 1024

/** The process of a command in an event `started`, its output as it comes in events `output`, then its answer. */
const streamed = (computer: Computer, command: string, params: unknown, signal: AbortSignal): Response => {
  const gone = new AbortController()
  const encoder = new TextEncoder()
  /** Settles when the caller has taken what was sent, or is gone. */
  let taken = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => taken.resolve(), { once: true })
  // A command has two outputs, each with pieces of its own.
  const pieces = new Queue()
  const source = {
    start(controller: ReadableStreamDefaultController<Uint8Array>) {
      void run(controller)
    },
    pull: () => taken.resolve(),
    cancel() {
      gone.abort()
      taken.resolve()
    },
  }
  const run = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const send = async (text: string): Promise<void> => {
      if (gone.signal.aborted || signal.aborted) return
      controller.enqueue(encoder.encode(text))
      if ((controller.desiredSize ?? 0) > 0) return
      taken = Promise.withResolvers()
      await taken.promise
    }
    const answer = await runCommand(computer, command, params, {
      signal: AbortSignal.any([signal, gone.signal]),
      progress: (event) => pieces.run(() => send(frame(event, 'pid' in event ? 'started' : 'output'))),
    })
    void send(frame(answer ?? { success: false, error: unknownCommand(command), code: 'unknown_command' }))
    if (!gone.signal.aborted) controller.close()
  }
  const stream = new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: mostWaitingBytes }))
  return new Response(stream, { headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' } })
}
