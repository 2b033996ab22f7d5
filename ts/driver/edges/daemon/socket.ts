/** The socket edge: answers the lines of one connection. */
import { exitOf, Failure } from '@backlot/contract/failure'
import { callsAtOnce, longestLineBytes } from '@backlot/contract/limits'
import type { Socket } from 'bun'
import type { CallContext } from '../../context.ts'
import { notBegun } from '../../ending.ts'
import { sessionName } from '../../session/session-name.ts'
import { anonymous } from '../../session/sessions.ts'
import type { ToolResult } from '../../tool/result.ts'
import { type Line, LineReader } from '../lines.ts'
import type { Identity, Reply, Request } from '../wire.ts'
import { Outbox } from './outbox.ts'

/** What the daemon does for its connections. */
export interface Service {
  call(name: string, args: unknown, context: CallContext): Promise<ToolResult>
  /** The permitted tools, as `tools/list` of MCP describes them. */
  list(): Promise<unknown>
  describe(name: string): Promise<unknown>
  /** Throws `daemon_mismatch` when the client expects another daemon. */
  greet(expect: Identity | undefined): unknown
  status(): Promise<unknown>
  /** Halts all actions of all connections; they have been told when it answers. */
  pause(): Promise<unknown>
  /** Lets later actions go on. */
  resume(): Promise<unknown>
  /** Declares a session, which ends with the connection of that name. */
  beginSession(name: string, client: string): Promise<unknown>
  endSession(name: string): Promise<unknown>
  /** The connection of that name is gone, and its calls are aborted. */
  disconnected(client: string): void
  /** Ends the daemon once this connection has its answer; one that others use only where `onlyIdle` is not asked for. */
  shutdown(onlyIdle: boolean): Promise<unknown>
}

/** Bytes of unread answers over which no further line of a connection is read. */
const fullOutboxBytes = 8 * 1024 * 1024

/** Bytes of lines that wait for their turn over which no further line of a connection is read. */
const mostQueuedBytes = 8 * 1024 * 1024

/** What a line costs beside its text. */
const lineBytes = 64

type Id = string | number

/** One connection. */
export class SocketEdge {
  readonly #outbox: Outbox
  readonly #reader = new LineReader(longestLineBytes, (line) => this.#take(line))
  readonly #byId = new Map<Id, AbortController>()
  readonly #running = new Set<AbortController>()
  readonly #queued: Line[] = []
  #queuedBytes = 0
  #inOrder: Promise<unknown> = Promise.resolve()
  #hasEnded = false
  #isEnding = false
  #isClosed = false
  #isPaused = false
  /** Clients that stay greet; others may send each call through a connection of its own. */
  #isGreeted = false
  /** Whose calls they are: the connection's own, or everybody's. */
  #client: string

  constructor(
    private readonly socket: Socket<unknown>,
    private readonly service: Service,
    private readonly connection: string,
  ) {
    this.#client = connection
    this.#outbox = new Outbox(socket)
  }

  /** Requests that are not answered yet. */
  get pending(): number {
    return this.#running.size
  }

  /** Takes what arrived. */
  data(bytes: Uint8Array): void {
    this.#reader.push(bytes)
    this.#throttleReading()
  }

  /** The socket takes bytes again. */
  drain(): void {
    this.#outbox.drain()
    this.#throttleReading()
    this.#hangUpWhenDone()
  }

  /** The client sends nothing more, but may still read: what it asked is answered first. */
  end(): void {
    this.#reader.end()
    this.#hasEnded = true
    this.#hangUpWhenDone()
  }

  /** The daemon ends: whatever runs ends with `cancelled`, and the answers are the last. */
  endCalls(): void {
    this.#isEnding = true
    for (const line of this.#queued.splice(0)) this.#send(idOf(line), failed(ending()))
    this.#queuedBytes = 0
    for (const running of this.#running) running.abort()
    this.#hasEnded = true
    this.#hangUpWhenDone()
  }

  /** The client is gone: whatever runs for it ends. */
  close(): void {
    this.#isClosed = true
    this.#queued.length = 0
    this.#outbox.clear()
    for (const running of this.#running) running.abort()
    this.service.disconnected(this.connection)
  }

  #take(line: Line): void {
    if (this.#isClosed) return
    if ('text' in line && line.text.trim() === '') return
    if (this.#isEnding) {
      this.#send(idOf(line), failed(ending()))
      return
    }
    if ((this.#queued.length > 0 || !this.#hasRoom) && !('text' in line && isAtOnce(line.text))) this.#queue(line)
    else this.#answer(line)
  }

  /** Keeps a line until there is room; lines behind it are read all the same, since one may cancel it. */
  #queue(line: Line): void {
    this.#queued.push(line)
    this.#queuedBytes += sizeOf(line)
  }

  get #hasRoom(): boolean {
    return this.#running.size < callsAtOnce && this.#outbox.waitingBytes <= fullOutboxBytes
  }

  /** Answers lines that wait, and stops or resumes reading. */
  #throttleReading(): void {
    while (this.#hasRoom) {
      const line = this.#queued.shift()
      if (line === undefined) break
      this.#queuedBytes -= sizeOf(line)
      this.#answer(line)
    }
    const mustPause = this.#queuedBytes > mostQueuedBytes || this.#outbox.waitingBytes > fullOutboxBytes
    if (mustPause === this.#isPaused || this.#isClosed) return
    this.#isPaused = mustPause
    if (mustPause) this.socket.pause()
    else this.socket.resume()
  }

  #answer(line: Line): void {
    let request: Request
    try {
      request = requestOf(line)
    } catch (error) {
      this.#send(undefined, failed(Failure.from(error)))
      return
    }
    const { id } = request
    if (request.method === 'cancel') {
      if (request.cancel !== undefined) this.#cancel(request.cancel)
      if (id !== undefined) this.#send(id, { ok: true, result: {} })
      return
    }
    if (request.method === 'hello') {
      this.#greet(request)
      return
    }
    const running = new AbortController()
    this.#running.add(running)
    if (id !== undefined) this.#byId.set(id, running)
    const answer = async () => {
      const reply = await this.#do(request, running.signal)
      this.#running.delete(running)
      if (id !== undefined && this.#byId.get(id) === running) this.#byId.delete(id)
      this.#send(id, reply)
      this.#throttleReading()
      this.#hangUpWhenDone()
    }
    if (id === undefined) this.#inOrder = this.#inOrder.then(answer)
    else answer()
  }

  /** Ends the request of that id, whether it runs or waits for its turn. */
  #cancel(id: Id): void {
    const running = this.#byId.get(id)
    if (running !== undefined) {
      running.abort()
      return
    }
    const turn = this.#queued.findIndex((line) => idOf(line) === id)
    if (turn === -1) return
    for (const line of this.#queued.splice(turn, 1)) this.#queuedBytes -= sizeOf(line)
    this.#send(id, failed(notBegun()))
  }

  /** Answers before the next line is read: a client that expects another daemon must not have its calls run. */
  #greet({ id, expect, anonymous: isAnonymous }: Request): void {
    this.#isGreeted = true
    if (isAnonymous === true) this.#client = anonymous
    try {
      this.#send(id, { ok: true, result: this.service.greet(expect) })
    } catch (error) {
      this.#send(id, failed(Failure.from(error)))
      this.#hangUp()
    }
  }

  async #do(request: Request, signal: AbortSignal): Promise<Reply> {
    try {
      if (signal.aborted) throw notBegun()
      switch (request.method) {
        case 'call':
          return replyOf(await this.service.call(nameOf(request), request.args ?? {}, this.#context(request, signal)))
        case 'list':
          return { ok: true, result: await this.service.list() }
        case 'describe':
          return { ok: true, result: await this.service.describe(nameOf(request)) }
        case 'session_begin':
          return { ok: true, result: await this.service.beginSession(sessionIn(request), this.connection) }
        case 'session_end':
          return { ok: true, result: await this.service.endSession(sessionIn(request)) }
        case 'status':
          return { ok: true, result: await this.service.status() }
        case 'pause':
          return { ok: true, result: await this.service.pause() }
        case 'resume':
          return { ok: true, result: await this.service.resume() }
        case 'shutdown':
          return { ok: true, result: await this.service.shutdown(request.only_idle === true) }
        default:
          throw new Failure(
            'unknown_method',
            `The daemon has no method "${request.method}". Use call, cancel, list, describe, hello, session_begin, session_end, status, pause, resume or shutdown.`,
            { method: request.method },
          )
      }
    } catch (error) {
      return failed(Failure.from(error))
    }
  }

  #context({ session_id }: Request, signal: AbortSignal): CallContext {
    const session = sessionName('session_id', session_id)
    const holder = this.#isGreeted && this.#client !== anonymous ? { holder: this.connection } : {}
    return { client: this.#client, signal, ...holder, ...(session !== undefined && { session }) }
  }

  #send(id: Id | undefined, reply: Reply): void {
    if (this.#isClosed) return
    this.#outbox.send(`${JSON.stringify(id === undefined ? reply : { id, ...reply })}\n`)
  }

  #hangUpWhenDone(): void {
    if (this.#hasEnded && this.#running.size === 0 && this.#queued.length === 0 && this.#outbox.waitingBytes === 0) {
      this.#hangUp()
    }
  }

  #hangUp(): void {
    if (this.#isClosed) return
    this.close()
    this.socket.end()
  }
}

const sizeOf = (line: Line): number => ('text' in line ? line.text.length : 0) + lineBytes

/** What a client may ask another daemon: nothing was done. */
const ending = (): Failure =>
  new Failure('not_running', 'The daemon ends, and has not begun this. Call again; another one is started.')

/** True of lines that wait for nothing: what ends a request, and what asks whether the daemon still answers. */
const isAtOnce = (text: string): boolean => /"method"\s*:\s*"(?:cancel|hello)"/.test(text)

const requestOf = (line: Line): Request => {
  if ('problem' in line) {
    throw line.problem === 'too_long'
      ? new Failure('message_too_long', `A line may have ${longestLineBytes} bytes. Send less at once.`, {
          limit: longestLineBytes,
        })
      : new Failure('invalid_json', 'The line is not UTF-8. Send one JSON object on each line.')
  }
  let request: unknown
  try {
    request = JSON.parse(line.text)
  } catch (error) {
    throw new Failure(
      'invalid_json',
      `The line is not JSON (${Failure.from(error).message}). Send one JSON object on each line.`,
    )
  }
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new Failure('invalid_json', 'The line is not a JSON object. Send {"method": "call", "name": …, "args": {…}}.')
  }
  return request as Request
}

/** The id of a line that may be no request at all. */
const idOf = (line: Line): Id | undefined => {
  try {
    return requestOf(line).id
  } catch {
    return undefined
  }
}

const nameOf = (request: Request): string => {
  if (typeof request.name === 'string') return request.name
  throw new Failure(
    'missing_argument',
    `"${request.method}" needs the "name" of a tool, a string. The method "list" names them.`,
    { argument: 'name' },
  )
}

const sessionIn = (request: Request): string => {
  const name = sessionName('session_id', request.session_id)
  if (name !== undefined) return name
  throw new Failure('missing_argument', `"${request.method}" needs "session_id", a string: the name of the session.`, {
    argument: 'session_id',
  })
}

const failed = ({ code, message, data }: Failure): Reply => ({
  ok: false,
  error: message,
  code,
  exit_code: exitOf(code),
  ...(Object.keys(data).length > 0 ? { data } : {}),
})

/** The reply that carries a tool's result. */
const replyOf = (result: ToolResult): Reply => {
  if (result.isError !== true) return { ok: true, result }
  const [first] = result.content
  const code = result.structuredContent?.code
  return {
    ok: false,
    error: first?.type === 'text' ? first.text : 'The tool failed.',
    code: typeof code === 'string' ? code : 'internal',
    exit_code: exitOf(code),
    result,
  }
}
