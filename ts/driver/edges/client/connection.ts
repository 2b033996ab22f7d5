/** A client's connection to the daemon. Loads nothing but what it needs: the shell form pays for every module. */
import { codeOf, Failure } from '@backlot/contract/failure'
import { daemon, longestLineBytes } from '@backlot/contract/limits'
import type { Socket } from 'bun'
import type { ToolResult } from '../../tool/result.ts'
import { Outbox } from '../daemon/outbox.ts'
import { LineReader } from '../lines.ts'
import type { Greeting, Identity, Reply, Request } from '../wire.ts'

/** Bytes of the longest answer that is read: a large screen's picture several times over. */
const longestAnswerBytes = 32 * longestLineBytes

type UnnumberedRequest = Omit<Request, 'id'>

/** An open, greeted connection. */
export interface Connection {
  readonly greeting: Greeting
  /** Whether requests can still be sent: not to a daemon that has ended, or has said that it ends. */
  readonly isOpen: boolean
  /** Asks whether the daemon still answers. Throws `not_running` and `daemon_unavailable`, and is open no more then. */
  check(): Promise<void>
  /** Sends a request; gives the result, or throws the failure of the reply, or `daemon_lost`, also where the daemon hangs. */
  ask(request: UnnumberedRequest): Promise<unknown>
  /** Calls a tool; a failed call is a result with `isError`. Aborting ends the call in the daemon. */
  call(name: string, args: unknown, signal?: AbortSignal): Promise<ToolResult>
  close(): void
}

/**
 * Connects and greets. Throws `not_running` where nobody listens or what listens ends, `daemon_mismatch` where another
 * one does, and `daemon_unavailable` where one takes the connection and does not answer.
 */
export const connect = async (path: string, expect?: Identity): Promise<Connection> => {
  const socket = new DaemonSocket(path)
  const greeting = await greet(socket, path, { ...(expect && { expect }) })
  return {
    greeting,
    get isOpen() {
      return socket.isOpen
    },
    check: async () => void (await greetingOf(socket, path, {})),
    ask: (request) => socket.ask(request),
    call: (name, args, signal) => socket.call(name, args, signal),
    close: () => socket.close(),
  }
}

/**
 * One call on a connection of its own, whose agent is shared with all such calls. It is sent along with the greeting, so
 * that it takes one way there and back; a daemon that does not match hangs up before it reads the call.
 * Throws as `connect` does, in which case the call has not begun, or `daemon_lost`, also where nothing is answered: who
 * wakes later may still read the call.
 */
export const callOnce = async (path: string, expect: Identity, name: string, args: unknown): Promise<ToolResult> => {
  const socket = new DaemonSocket(path)
  const greeted = greet(socket, path, { expect, anonymous: true })
  const result = socket.call(name, args)
  // Where the greeting fails, that is what is told.
  result.catch(() => undefined)
  try {
    await greeted
    return await result
  } catch (error) {
    throw Failure.from(error).code === 'daemon_unavailable' ? daemonLost(Failure.from(error).message) : error
  } finally {
    socket.close()
  }
}

type HelloOptions = { readonly expect?: Identity; readonly anonymous?: boolean }

const greet = async (socket: DaemonSocket, path: string, options: HelloOptions): Promise<Greeting> => {
  const greeting = greetingOf(socket, path, options)
  greeting.catch(() => undefined)
  try {
    await Bun.connect({
      unix: path,
      socket: {
        open: (opened) => socket.opened(opened),
        data: (_, bytes) => socket.reader.push(bytes),
        drain: () => socket.outbox?.drain(),
        close: () => socket.closed(),
        error: () => socket.closed(),
        connectError: () => undefined,
      },
    })
  } catch (error) {
    socket.closed()
    throw notRunning(path, error)
  }
  return greeting.catch((error: unknown) => {
    socket.close()
    throw error
  })
}

/** The answer to `hello`, which comes at once or not at all: then the connection is closed. */
const greetingOf = async (socket: DaemonSocket, path: string, options: HelloOptions): Promise<Greeting> => {
  const answer = socket.ask({ method: 'hello', ...options })
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(notAnswering(path)), daemon.greetingTimeoutMs)
  })
  try {
    return (await Promise.race([answer, silence])) as Greeting
  } catch (error) {
    answer.catch(() => undefined)
    const failure = Failure.from(error)
    if (failure.code === 'daemon_unavailable') socket.close(failure.message)
    throw failure.code === 'daemon_lost' ? notRunning(path, error) : error
  } finally {
    clearTimeout(timer)
  }
}

/** One open socket and the requests under way on it. */
class DaemonSocket {
  readonly #waiting = new Map<number, (reply: Reply | Failure) => void>()
  /** What is sent before the socket is open leaves in one piece when it is. */
  #early = ''
  #socket: Socket | undefined
  #lastId = 0
  /** Requests that may take their time. */
  #underWay = 0
  #watching: ReturnType<typeof setTimeout> | undefined
  /** The daemon has said that it ends; what it has begun is still answered. */
  #isEnding = false
  #isClosed = false
  outbox: Outbox | undefined
  readonly reader = new LineReader(longestAnswerBytes, (line) => {
    if ('text' in line) this.#answered(line.text)
    else this.close()
  })

  constructor(private readonly path: string) {}

  get isOpen(): boolean {
    return !this.#isEnding && !this.#isClosed
  }

  opened(socket: Socket): void {
    this.#socket = socket
    this.outbox = new Outbox(socket)
    this.outbox.send(this.#early)
    this.#early = ''
  }

  /** Hangs up; `why` is what requests under way are told of it. */
  close(why?: string): void {
    // The socket says that it is closed before it returns.
    this.closed(why)
    this.#socket?.end()
  }

  closed(why?: string): void {
    this.#isClosed = true
    clearTimeout(this.#watching)
    this.outbox?.clear()
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const settle of waiting) settle(daemonLost(why))
  }

  async ask(request: UnnumberedRequest): Promise<unknown> {
    const reply = await (request.method === 'hello' ? this.#send(request) : this.#sendWatched(request))
    if (reply.ok) return reply.result
    throw new Failure(codeOf(reply.code), reply.error, reply.data)
  }

  async call(name: string, args: unknown, signal?: AbortSignal): Promise<ToolResult> {
    const reply = await this.#sendWatched({ method: 'call', name, args }, signal)
    if (reply.ok) return reply.result as ToolResult
    if (isEnding(reply)) throw new Failure('not_running', reply.error)
    return (
      reply.result ?? {
        content: [{ type: 'text', text: reply.error }],
        structuredContent: { ...reply.data, code: reply.code, message: reply.error },
        isError: true,
      }
    )
  }

  /** Sends what may take any time, for as long as the daemon answers meanwhile that it is there. */
  async #sendWatched(request: UnnumberedRequest, signal?: AbortSignal): Promise<Reply> {
    this.#underWay += 1
    this.#watch()
    try {
      return await this.#send(request, signal)
    } finally {
      this.#underWay -= 1
    }
  }

  #watch(): void {
    if (this.#watching !== undefined || this.#isClosed) return
    this.#watching = setTimeout(async () => {
      this.#watching = undefined
      if (this.#underWay === 0) return
      // One that is silent is hung up on, which ends what is under way; any answer is as good as another.
      await greetingOf(this, this.path, {}).catch(() => undefined)
      this.#watch()
    }, daemon.greetingTimeoutMs)
    this.#watching.unref()
  }

  async #send(request: UnnumberedRequest, signal?: AbortSignal): Promise<Reply> {
    if (this.#isClosed) throw daemonLost()
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
    if (isEnding(reply)) this.#isEnding = true
    settle?.(reply)
  }
}

/** True of the answer of a daemon that ends, and has not begun what it was asked for; a tool's own failure has a result. */
const isEnding = (reply: Reply): boolean => !reply.ok && reply.code === 'not_running' && reply.result === undefined

const daemonLost = (how = 'The daemon ended before it answered.'): Failure =>
  new Failure('daemon_lost', `${how} The outcome of the call is unknown: look at the window before you call again.`)

const notAnswering = (path: string): Failure =>
  new Failure(
    'daemon_unavailable',
    `The daemon on "${path}" takes connections and has not answered for ${daemon.greetingTimeoutMs / 1_000} s. End its process, or run with \`--direct\`.`,
    { socket: path },
  )

const notRunning = (path: string, cause: unknown): Failure =>
  new Failure(
    'not_running',
    `No daemon answers on "${path}" (${cause instanceof Error ? cause.message : String(cause)}). Start one with \`backlot-driver serve\`.`,
    { socket: path },
  )
