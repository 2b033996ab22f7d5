/** What of a guest is streamed by the service: commands with their output, and files. */
import { codeOf, Failure } from '@backlot/contract/failure'
import {
  ExecEvent,
  execInput,
  execStreamPath,
  guestFilePath,
  guestFolderPath,
} from '@backlot/contract/vmhost/guest-streams'
import { Value } from '@sinclair/typebox/value'
import { printPart, sayPart } from '../terminal/output.ts'
import type { Service } from './service.ts'

/** A VM, and where it is looked for. */
export interface VmReference {
  readonly name: string
  readonly storage?: string
}

/** A command for a guest, as the service takes it. */
export interface GuestCommand extends VmReference {
  readonly command: string
  readonly timeoutSeconds?: number
  readonly environment?: Readonly<Record<string, string>>
  readonly folder?: string
  /** What it reads, as it comes. */
  readonly input?: ReadableStream<Uint8Array>
}

/** Asks the service for a path below its prefix; throws `host_unreachable` and what the service refuses with. */
const ask = async ({ reach }: Service, path: string, init: RequestInit): Promise<Response> => {
  const headers = { ...init.headers, ...(reach.token !== undefined && { Authorization: `Bearer ${reach.token}` }) }
  let response: Response
  try {
    response = await reach.fetch(reach.baseUrl + path, { ...init, headers })
  } catch (error) {
    init.signal?.throwIfAborted()
    const why = (error as { code?: unknown }).code ?? (error as Error).message
    const at = reach.shown ?? reach.baseUrl
    throw new Failure('host_unreachable', `No VM host answers at "${at}" (${why}). Start one with \`backlot serve\`.`, {
      baseUrl: reach.baseUrl,
    })
  }
  if (response.ok) return response
  const answer = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>
  const { code, message = `The VM host answered with status ${response.status}.`, ...data } = answer
  throw failed(code, message, data)
}

const failed = (code: unknown, message: unknown, data: Readonly<Record<string, unknown>> = {}): Failure =>
  new Failure(codeOf(code), String(message), data)

const pathOf = (path: string, name: string): string => path.replace('{name}', encodeURIComponent(name))

/**
 * Runs a command in a guest with our output streams, as it writes; ends it when we are interrupted. Gives its exit status. What
 * it throws once the command has begun, or may have, has `hasBegun` in its data.
 */
export const runStreamed = async (service: Service, { name, input, ...rest }: GuestCommand): Promise<number> => {
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort(new Failure('cancelled', 'It was interrupted; the command is ended.'))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  try {
    const { signal } = interrupted
    const headers = { 'Content-Type': 'application/json' }
    const inputId = input === undefined ? undefined : crypto.randomUUID()
    const init = { method: 'POST', headers, body: JSON.stringify({ ...rest, inputId }), signal }
    const response = await ask(service, pathOf(execStreamPath, name), init)
    // What keeps it from being sent ends the command, which says so.
    if (input !== undefined) void send(service, { name, storage: rest.storage, inputId }, input, signal)
    for await (const event of eventsOf(response)) {
      if (event.type === 'ended') return event.exitCode
      if (event.type === 'failed') throw failed(event.code, event.message, { hasBegun: true })
      await (event.stream === 'stdout' ? printPart : sayPart)(Buffer.from(event.data_b64, 'base64'))
    }
    signal.throwIfAborted()
    throw new Failure('host_unreachable', 'The VM host ended before the command did; what became of it is unknown.')
  } catch (error) {
    interrupted.signal.throwIfAborted()
    throw error
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt)
  }
}

/** Sends a command what it reads, as long as it does. */
const send = async (
  service: Service,
  { name, storage, inputId = '' }: { name: string; storage: string | undefined; inputId: string | undefined },
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> => {
  const query = storage === undefined ? '' : `?${new URLSearchParams({ storage })}`
  const path = pathOf(execInput.path, name).replace('{inputId}', inputId)
  await ask(service, path + query, { method: 'POST', body, signal }).catch(() => undefined)
}

const eventsOf = async function* ({ body }: Response): AsyncGenerator<ExecEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of body ?? []) {
    const frames = (rest + decoder.decode(part, { stream: true })).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const [, text = 'null'] = /^data: (.*)$/m.exec(frame) ?? []
      const event: unknown = JSON.parse(text)
      if (Value.Check(ExecEvent, event)) yield event
    }
  }
}

/** A file or a folder of a guest; `isFolder`: as a tar archive whose paths begin at it. */
export interface GuestPath extends VmReference {
  readonly path: string
  readonly isFolder: boolean
}

const queryOf = ({ name, storage, path, isFolder }: GuestPath, more: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams({ path, ...(storage !== undefined && { storage }), ...more })
  return `${pathOf(isFolder ? guestFolderPath : guestFilePath, name)}?${query}`
}

/** The bytes of a file or a folder of a guest. */
export const readFromGuest = (service: Service, from: GuestPath): Promise<Response> => ask(service, queryOf(from), {})

/** Writes a file or a folder of a guest; a file that is new gets these permission bits. */
export const writeToGuest = async (
  service: Service,
  to: GuestPath,
  body: ReadableStream<Uint8Array> | Blob,
  mode = 0o644,
): Promise<void> => {
  await ask(service, queryOf(to, { mode: mode.toString(8) }), { method: 'POST', body })
}
