/** An MCP server as a child, asked one thing at a time. */
import { readFileSync } from 'node:fs'
import type { TestDesktop } from '../../support/desktop.ts'
import { Program } from './program.ts'

/** What the bench asks of a server's first answer. */
export const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
}

/** The result of a tool, as far as the bench looks at it. */
export interface CallResult<T = Record<string, unknown>> {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[]
  readonly structuredContent?: T
}

/** A server on the desktop. */
export class Server implements AsyncDisposable {
  readonly #program: Program
  #asked = 0
  /** Characters of all answers so far. */
  received = 0

  constructor(
    on: TestDesktop,
    command: readonly [string, ...string[]],
    private readonly env: Readonly<Record<string, string>> = {},
  ) {
    this.#program = new Program(command, { ...on.env, ...this.env })
  }

  /** Starts a server and greets it. */
  static async open(
    on: TestDesktop,
    command: readonly [string, ...string[]],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    const server = new Server(on, command, env)
    await server.start()
    return server
  }

  /** Sends a message and gives the answer with its id. */
  async ask(message: { readonly id: number }): Promise<Record<string, unknown>> {
    this.#program.send(JSON.stringify(message))
    for (;;) {
      const line = await this.#program.next()
      const answer = JSON.parse(line) as Record<string, unknown>
      // Servers may send notifications in between.
      if (answer.id !== message.id) continue
      this.received += line.length
      return answer
    }
  }

  /** Calls a tool, which must not fail. */
  async call<T = Record<string, unknown>>(name: string, args: object): Promise<CallResult<T>> {
    this.#asked += 1
    const params = { name, arguments: args }
    const answer = await this.ask({ jsonrpc: '2.0', id: this.#asked, method: 'tools/call', params } as { id: number })
    const result = answer.result as CallResult<T> | undefined
    if (result === undefined || result.isError === true) {
      throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(answer).slice(0, 600)}`)
    }
    return result
  }

  /** Greets the server. */
  async start(): Promise<void> {
    await this.ask(initialize)
    this.#program.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  }

  get residentMegabytes(): number {
    return residentMegabytes(this.#program.pid)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]()
  }
}

/** Resident memory of a process (proc(5)), all of it or that part which no file holds and no other process shares. */
export const residentMegabytes = (pid: number, part: 'VmRSS' | 'RssAnon' = 'VmRSS'): number =>
  Number(new RegExp(`${part}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
