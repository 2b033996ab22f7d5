/** MCP's stdio transport: one JSON-RPC message on a line, tolerant of what clients send; standard output holds nothing else. */
import { longestLineBytes } from '@backlot/contract/limits'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { LineReader } from '../lines.ts'
import { readLine } from './tolerance.ts'

/** Where the messages go. */
interface Sink {
  write(text: string): unknown
  flush(): unknown
}

/** A transport between a stream of bytes and a sink. */
export class StdioTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #unanswered = new Set<string | number>()
  readonly #done = Promise.withResolvers<void>()
  readonly #ended = new AbortController()
  readonly #reader = new LineReader(longestLineBytes, (line) => {
    for (const read of readLine(line)) {
      if (read === undefined) continue
      if ('refusal' in read) this.#write(read.refusal)
      else this.#received(read.message)
    }
  })

  constructor(
    private readonly input: AsyncIterable<Uint8Array>,
    private readonly output: Sink,
  ) {}

  /** Fulfilled when the client sends nothing more and has its answers, or can no longer be written to. */
  get done(): Promise<void> {
    return this.#done.promise
  }

  /** Aborts when the client sends nothing more: it has hung up, or was killed. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  async start(): Promise<void> {
    this.#read()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message)
    if (!('method' in message) && message.id !== undefined) this.#settle(message.id)
  }

  async close(): Promise<void> {
    this.#done.resolve()
    this.onclose?.()
  }

  async #read(): Promise<void> {
    try {
      for await (const chunk of this.input) this.#reader.push(chunk)
    } catch (error) {
      this.onerror?.(error as Error)
    }
    this.#reader.end()
    this.#ended.abort()
    this.#endWhenAnswered()
  }

  #received(message: JSONRPCMessage): void {
    if ('method' in message) {
      if ('id' in message) this.#unanswered.add(message.id)
      else if (message.method === 'notifications/cancelled') this.#cancelled(message.params?.requestId)
    }
    this.onmessage?.(message)
  }

  /** A cancelled request gets no answer. */
  #cancelled(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#settle(id)
  }

  #settle(id: string | number): void {
    this.#unanswered.delete(id)
    this.#endWhenAnswered()
  }

  #endWhenAnswered(): void {
    if (this.ended.aborted && this.#unanswered.size === 0) this.#done.resolve()
  }

  async #write(message: object): Promise<void> {
    try {
      this.output.write(`${JSON.stringify(message)}\n`)
      await this.output.flush()
    } catch (error) {
      this.onerror?.(error as Error)
      this.#done.resolve()
    }
  }
}
