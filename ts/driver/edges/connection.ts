/** A client's connection to the daemon. Loads nothing but what it needs: the shell form pays for every module. */
import { Failure, type FailureCode, failures } from '@backlot/contract/failure'
import { daemon, longestLineBytes } from '@backlot/contract/limits'
import type { Socket } from 'bun'
import type { ToolResult } from '../result.ts'
import { LineReader } from './lines.ts'
import { Outbox } from './outbox.ts'
import type { Greeting, Identity, Reply, Request } from './wire.ts'

/** Bytes of the longest answer that is read: a large screen's picture several times over. */
const longestAnswerBytes = 32 * longestLineBytes

type Asked = Omit<Request, 'id'>

/** An open, greeted connection. */
export interface Connection {
  readonly greeting: Greeting
  /** Whether requests can still be sent. */
  readonly isOpen: boolean
  /** Asks whether the daemon still answers. Throws `not_running` and `daemon_unavailable`, and is closed then. */
  check(): Promise<void>
  /** Sends a request; gives the result, or throws the failure of the reply, or `daemon_lost`. */
  ask(request: Asked): Promise<unknown>
  /** Calls a tool; a failed call is a result with `isError`. Aborting ends the call in the daemon. */
  call(name: string, args: unknown, signal?: AbortSignal): Promise<ToolResult>
  close(): void
}

/**
 * Connects and greets. Throws `not_running` where nobody listens or what listens ends, `daemon_mismatch` where another
 * one does, and `daemon_unavailable` where one takes the connection and does not answer.
 */
export const connect = async (path: string, expect?: Identity): Promise<Connection> => {
  const open = new Open()
  const greeting = await greet(open, path, { ...(expect && { expect }) })
  return {
    greeting,
    get isOpen() {
      return open.isOpen
    },
    check: async () => void (await greetingOf(open, path, {})),
    ask: (request) => open.ask(request),
    call: (name, args, signal) => open.call(name, args, signal),
    close: () => open.close(),
  }
}

/**
 * One call on a connection of its own, whose agent is shared with all such calls. It is sent along with the greeting, so
 * that it takes one way there and back; a daemon that does not match hangs up before it reads the call.
 * Throws as `connect` does, in which case the call has not begun, or `daemon_lost`, also where nothing is answered: who
 * wakes later may still read the call.
 */
export const callOnce = async (path: string, expect: Identity, name: string, args: unknown): Promise<ToolResult> => {
  const open = new Open()
  const greeted = greet(open, path, { expect, anonymous: true })
  const result = open.call(name, args)
  // Where the greeting fails, that is what is told.
  result.catch(() => undefined)
  try {
    await greeted
    return await result
  } catch (error) {
    throw Failure.from(error).code === 'daemon_unavailable' ? lost(Failure.from(error).message) : error
  } finally {
    open.close()
  }
}

type Terms = { readonly expect?: Identity; readonly anonymous?: boolean }

const greet = async (open: Open, path: string, terms: Terms): Promise<Greeting> => {
  const greeting = greetingOf(open, path, terms)
  greeting.catch(() => undefined)
  try {
    await Bun.connect({
      unix: path,
      socket: {
        open: (socket) => open.opened(socket),
        data: (_, bytes) => open.reader.push(bytes),
        drain: () => open.outbox?.drain(),
        close: () => open.closed(),
        error: () => open.closed(),
        connectError: () => undefined,
      },
    })
  } catch (error) {
    open.closed()
    throw nobody(path, error)
  }
  return greeting
}

/** The answer to `hello`, which comes at once or not at all; where it does not, the connection is closed. */
const greetingOf = async (open: Open, path: string, terms: Terms): Promise<Greeting> => {
  const answer = open.ask({ method: 'hello', ...terms })
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(silent(path)), daemon.greetingTimeoutMs)
  })
  try {
    return (await Promise.race([answer, silence])) as Greeting
  } catch (error) {
    answer.catch(() => undefined)
    open.close()
    throw Failure.from(error).code === 'daemon_lost' ? nobody(path, error) : error
  } finally {
    clearTimeout(timer)
  }
}

/** One open socket and the requests under way on it. */
class Open {
  readonly #waiting = new Map<number, (reply: Reply | Failure) => void>()
  /** What is sent before the socket is open leaves in one piece when it is. */
  #early = ''
  #socket: Socket | undefined
  #lastId = 0
  isOpen = true
  outbox: Outbox | undefined
  readonly reader = new LineReader(longestAnswerBytes, (line) => {
    if ('text' in line) this.#answered(line.text)
    else this.close()
  })

  opened(socket: Socket): void {
    this.#socket = socket
    this.outbox = new Outbox(socket)
    this.outbox.send(this.#early)
    this.#early = ''
  }

  close(): void {
    this.#socket?.end()
    this.closed()
  }

  closed(): void {
    this.isOpen = false
    this.outbox?.clear()
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const settle of waiting) settle(lost())
  }

  async ask(request: Asked): Promise<unknown> {
    const reply = await this.#send(request)
    if (reply.ok) return reply.result
    throw new Failure(reply.code in failures ? (reply.code as FailureCode) : 'internal', reply.error, reply.data)
  }

  async call(name: string, args: unknown, signal?: AbortSignal): Promise<ToolResult> {
    const reply = await this.#send({ method: 'call', name, args }, signal)
    if (reply.ok) return reply.result as ToolResult
    // Not of a tool: the daemon ends, and has not begun the call.
    if (reply.code === 'not_running' && reply.result === undefined) throw new Failure('not_running', reply.error)
    return (
      reply.result ?? {
        content: [{ type: 'text', text: reply.error }],
        structuredContent: { ...reply.data, code: reply.code, message: reply.error },
        isError: true,
      }
    )
  }

  async #send(request: Asked, signal?: AbortSignal): Promise<Reply> {
    if (!this.isOpen) throw lost()
    this.#lastId += 1
    const id = this.#lastId
    const { promise, resolve } = Promise.withResolvers<Reply | Failure>()
    this.#waiting.set(id, resolve)
    this.#write({ id, ...request })
    const cancel = () => this.#write({ method: 'cancel', cancel: id })
    if (signal?.aborted) cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    const reply = await promise
    signal?.removeEventListener('abort', cancel)
    if (reply instanceof Failure) throw reply
    return reply
  }

  #write(request: Request): void {
    const line = `${JSON.stringify(request)}\n`
    if (this.outbox === undefined) this.#early += line
    else this.outbox.send(line)
  }

  #answered(text: string): void {
    const reply = JSON.parse(text) as Reply
    const id = reply.id as number
    const settle = this.#waiting.get(id)
    this.#waiting.delete(id)
    settle?.(reply)
  }
}

const lost = (how = 'The daemon ended before it answered.'): Failure =>
  new Failure('daemon_lost', `${how} The outcome of the call is unknown: look at the window before you call again.`)

const silent = (path: string): Failure =>
  new Failure(
    'daemon_unavailable',
    `The daemon on "${path}" takes connections and has not answered for ${daemon.greetingTimeoutMs / 1_000} s. End its process, or run with \`--direct\`.`,
    { socket: path },
  )

const nobody = (path: string, cause: unknown): Failure =>
  new Failure(
    'not_running',
    `No daemon answers on "${path}" (${cause instanceof Error ? cause.message : String(cause)}). Start one with \`backlot-driver serve\`.`,
    { socket: path },
  )
