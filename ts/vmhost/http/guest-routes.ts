/** The routes of guests that stream: a command with its output, files, and folders as tar archives. */
import type { Input } from '@backlot/contract/endpoint'
import { Failure } from '@backlot/contract/failure'
import { longestHostBodyBytes } from '@backlot/contract/limits'
import { vmHost } from '@backlot/contract/vmhost'
import {
  type ExecEvent,
  execInput,
  execStreamPath,
  guestFilePath,
  guestFolderPath,
} from '@backlot/contract/vmhost/guest-streams'
import { readInput, routeOf } from '@backlot/serve'
import type { AnyElysia } from 'elysia'
import { type PreparedCommand, prepareExec } from '../handlers/guest.ts'
import { type FileAsked, readFile, readFolder, writeFile, writeFolder } from '../handlers/guest-files.ts'
import { sendInput } from '../handlers/guest-input.ts'
import type { Host } from '../host/host.ts'
import type { GuestOutput } from '../hypervisors/qemu/guest/guest-stream.ts'

type Params = Readonly<Record<string, string>>

/** Adds them. What is written may be sent by POST too: runtimes repeat a lost PUT by themselves, as HTTP allows. */
export const addGuestRoutes = (app: AnyElysia, prefix: string, host: Host): void => {
  app.post(prefix + routeOf(execStreamPath), async ({ request, params }) => {
    const input = await readInput(vmHost.execInVm, { request, params }, longestHostBodyBytes)
    return streamed(await prepareExec(input as Input<typeof vmHost.execInVm>, host), request.signal)
  })
  app.post(prefix + routeOf(execInput.path), async ({ request, params }) => {
    const asked = (await readInput(execInput, { request, params }, 0)) as Input<typeof execInput>
    return sendInput(host, asked, request.body ?? new Blob([]).stream())
  })
  for (const [path, read, write] of [
    [guestFilePath, readFile, writeFile],
    [guestFolderPath, readFolder, writeFolder],
  ] as const) {
    app.get(prefix + routeOf(path), async ({ request, params }) => {
      const bytes = await read(host, await askedOf(request, params))
      const type = path === guestFolderPath ? 'application/x-tar' : 'application/octet-stream'
      return new Response(streamOf(bytes, request.signal), {
        headers: { 'Content-Type': type, 'X-Accel-Buffering': 'no' },
      })
    })
    for (const method of ['PUT', 'POST']) {
      app.route(method, prefix + routeOf(path), async ({ request, params }) =>
        write(host, await askedOf(request, params), request.body ?? emptyBody()),
      )
    }
  }
}

const emptyBody = async function* (): AsyncGenerator<Uint8Array> {}

/** The file or folder that a request is about. Throws `missing_argument` and `invalid_argument`. */
const askedOf = async (request: Request, params: Params): Promise<FileAsked> => {
  const { name, storage } = (await readInput(vmHost.getVm, { request, params }, 0)) as Input<typeof vmHost.getVm>
  const query = new URL(request.url).searchParams
  const path = query.get('path') ?? ''
  if (path === '') throw new Failure('missing_argument', '"path" is missing in the query.', { argument: 'path' })
  if (!path.startsWith('/') || path.includes('\0'))
    throw new Failure('invalid_argument', `"path" is "${path}"; give an absolute path of the guest.`, {
      argument: 'path',
    })
  const mode = query.get('mode') ?? '644'
  if (!/^[0-7]{3,4}$/.test(mode))
    throw new Failure('invalid_argument', `"mode" is "${mode}"; it takes permission bits in octal, such as 644.`, {
      argument: 'mode',
    })
  return {
    name,
    storage,
    path,
    mode: Number.parseInt(mode, 8),
    makesParents: query.get('parents') === 'true',
    signal: request.signal,
  }
}

/**
 * Ends what a generator has under way once the caller of a request is gone, and gives what does so earlier. A generator that nobody
 * has asked for anything is asked first: `return` alone would run nothing of it.
 */
const endWhenGone = (output: AsyncGenerator<unknown, unknown>, asked: AbortSignal): (() => void) => {
  const end = () => {
    const begun = output.next().catch(() => undefined)
    begun.then(() => output.return(undefined)).catch(() => undefined)
  }
  if (asked.aborted) end()
  else asked.addEventListener('abort', end, { once: true })
  return end
}

/** The bytes as they are taken; what fails then cuts them short. */
const streamOf = (bytes: AsyncGenerator<Uint8Array>, asked: AbortSignal): ReadableStream<Uint8Array> => {
  const cancel = endWhenGone(bytes, asked)
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await bytes.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel,
  })
}

/** The events of a command, which is ended when the caller goes away. */
const streamed = async ({ guest, command, timeoutMs }: PreparedCommand, asked: AbortSignal): Promise<Response> => {
  const gone = new AbortController()
  const signal = AbortSignal.any([asked, gone.signal])
  const output = await guest.stream(command, { timeoutMs, signal })
  const end = endWhenGone(output, asked)
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      // The head of an answer goes out with its first bytes: who sends the input waits for it, and the command for that.
      controller.enqueue(encoder.encode(': begun\n\n'))
    },
    async pull(controller) {
      const event = await nextEvent(output)
      controller.enqueue(encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
      if (event.type !== 'output') controller.close()
    },
    cancel() {
      gone.abort()
      // What waits for output hears it at its next look; what waits for its reader is ended by this.
      end()
    },
  })
  return new Response(stream, { headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' } })
}

const nextEvent = async (output: AsyncGenerator<GuestOutput, number>): Promise<ExecEvent> => {
  try {
    const { done, value } = await output.next()
    if (done) return { type: 'ended', exitCode: value }
    return { type: 'output', stream: value.stream, data_b64: Buffer.from(value.bytes).toString('base64') }
  } catch (error) {
    const { code, message } = Failure.from(error)
    return { type: 'failed', code, message }
  }
}
