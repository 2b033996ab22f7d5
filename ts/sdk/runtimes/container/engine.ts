/** The API of a container engine (Docker Engine API, https://docs.docker.com/reference/api/engine/), by what this runtime calls. */
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Where an engine listens. */
export type EngineAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number }

/** What the engine refused, with its HTTP status and words. */
export class EngineError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** What goes with a call. */
export interface EngineCall {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** An object goes as JSON, pieces of bytes as an archive. */
  readonly body?: object | AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal | undefined
}

/** An engine. */
export class Engine {
  constructor(readonly address: EngineAddress) {}

  /** Calls it and gives its answer as a stream; throws `EngineError`. */
  async open(method: string, path: string, { query = {}, body, signal }: EngineCall = {}): Promise<IncomingMessage> {
    signal?.throwIfAborted()
    const given = new URLSearchParams()
    for (const [key, value] of Object.entries(query)) if (value !== undefined) given.set(key, String(value))
    const words = given.toString()
    const isArchive = body !== undefined && Symbol.asyncIterator in body
    const text = body === undefined || isArchive ? undefined : JSON.stringify(body)
    const options: RequestOptions = {
      ...this.address,
      method,
      path: words === '' ? path : `${path}?${words}`,
      ...(signal !== undefined && { signal }),
      headers: {
        host: 'localhost',
        ...(isArchive && { 'content-type': 'application/x-tar' }),
        ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      },
    }
    const answer = await new Promise<IncomingMessage>((settle, refuse) => {
      const sent = request(options, settle)
      sent.on('error', refuse)
      if (isArchive) pipeline(Readable.from(body as AsyncIterable<Uint8Array>), sent).catch(refuse)
      else sent.end(text)
    })
    if ((answer.statusCode ?? 500) < 400) return answer
    throw new EngineError(answer.statusCode ?? 500, saidIn(await textOf(answer)))
  }

  /** Calls it and gives what it answers, read as JSON; undefined where that is nothing. */
  async call<T = unknown>(method: string, path: string, call: EngineCall = {}): Promise<T> {
    const text = await textOf(await this.open(method, path, call))
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** Calls it and gives each line of its answer, read as JSON; throws what a line tells as an error. */
  async *progress(method: string, path: string, call: EngineCall = {}): AsyncIterable<Progress> {
    const answer = await this.open(method, path, call)
    let rest = ''
    answer.setEncoding('utf8')
    for await (const piece of answer) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') yield checked(JSON.parse(line) as Progress)
    }
    if (rest.trim() !== '') yield checked(JSON.parse(rest) as Progress)
  }
}

/** A line of the engine's answer while it fetches or builds. */
export interface Progress {
  readonly id?: string
  readonly stream?: string
  readonly status?: string
  readonly error?: string
  readonly progressDetail?: { readonly current?: number; readonly total?: number }
}

const checked = (line: Progress): Progress => {
  if (line.error !== undefined) throw new EngineError(500, line.error)
  return line
}

const textOf = async (answer: IncomingMessage): Promise<string> => {
  let text = ''
  answer.setEncoding('utf8')
  for await (const piece of answer) text += piece
  return text
}

const saidIn = (text: string): string => {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message)
  } catch {
    return text.trim()
  }
}

/** The lines of a container's output, whose frames each begin with eight bytes: stream, and length as the last four. */
export async function* outputLines(answer: IncomingMessage): AsyncIterable<string> {
  let bytes: Buffer = Buffer.alloc(0)
  let rest = ''
  for await (const piece of answer) {
    bytes = Buffer.concat([bytes, piece as Buffer])
    while (bytes.length >= 8 && bytes.length >= 8 + bytes.readUInt32BE(4)) {
      const end = 8 + bytes.readUInt32BE(4)
      const lines = (rest + bytes.toString('utf8', 8, end)).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
      bytes = bytes.subarray(end)
    }
  }
  if (rest !== '') yield rest
}
