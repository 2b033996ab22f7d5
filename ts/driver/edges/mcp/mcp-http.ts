/** MCP over streamable HTTP (revision 2025-11-25, "Transports"): sessions, each with calls of its own. */
import { WebStandardStreamableHTTPServerTransport as HttpTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { ToolRunner } from '../tool-runner.ts'
import { mcpServer } from './mcp.ts'

/** MCP over HTTP. */
const limits = {
  /** Sessions that are kept; beyond them the one that was idle longest ends. */
  mostSessions: 100,
  /** Milliseconds without a request after which a session may be ended. */
  idleMs: 30 * 60_000,
  /** Bytes of a request. */
  longestBodyBytes: 16 * 1024 * 1024,
} as const

/** Answers the requests of MCP clients; disposing of it ends their sessions. */
export interface McpOverHttp extends AsyncDisposable {
  answer(request: Request): Promise<Response>
}

interface Session {
  readonly transport: HttpTransport
  /** Requests under way, open event streams among them. */
  open: number
  /** `performance.now()` of the end of the last request. */
  lastUsed: number
  end(): Promise<void>
}

/** Serves the tools; each session runs them through a runner of its own. */
export const serveMcpOverHttp = (openRunner: () => ToolRunner): McpOverHttp => {
  const sessions = new Map<string, Session>()
  const begin = async (): Promise<Session> => {
    await endIdle(sessions)
    const runner = openRunner()
    const hungUp = new AbortController()
    let id: string | undefined
    const end = async () => {
      if (hungUp.signal.aborted) return
      if (id !== undefined) sessions.delete(id)
      hungUp.abort()
      await transport.close()
      await runner[Symbol.asyncDispose]()
    }
    const transport = new HttpTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      maxRequestBodySize: limits.longestBodyBytes,
      onsessioninitialized(given) {
        id = given
        sessions.set(given, session)
      },
      onsessionclosed: end,
    })
    const session: Session = { transport, open: 0, lastUsed: performance.now(), end }
    await mcpServer(runner, hungUp.signal).connect(transport)
    return session
  }
  return {
    async answer(request) {
      const id = request.headers.get('mcp-session-id')
      const known = id === null ? undefined : sessions.get(id)
      if (id !== null && known === undefined) return refuse(404, -32_001, 'Session not found')
      const session = known ?? (await begin())
      const answer = await counted(session, request)
      // A request that did not begin a session has been refused: nobody can come back to it.
      if (known === undefined && answer.headers.get('mcp-session-id') === null) await session.end()
      return answer
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...sessions.values()].map((session) => session.end()))
    },
  }
}

/** Handles a request, which counts as open until its answer has been read to its end. */
const counted = async (session: Session, request: Request): Promise<Response> => {
  session.open += 1
  const close = () => {
    session.open -= 1
    session.lastUsed = performance.now()
  }
  let answer: Response
  try {
    answer = await session.transport.handleRequest(request)
  } catch (error) {
    close()
    throw error
  }
  if (answer.body === null) {
    close()
    return answer
  }
  const given = answer.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await given.read().catch((error) => {
        close()
        throw error
      })
      if (!done) {
        controller.enqueue(value)
        return
      }
      close()
      controller.close()
    },
    async cancel(reason) {
      close()
      await given.cancel(reason)
    },
  })
  return new Response(body, { status: answer.status, headers: answer.headers })
}

/** Ends sessions that nobody has used for long, and beyond the most the one that was idle longest. */
const endIdle = async (sessions: ReadonlyMap<string, Session>): Promise<void> => {
  const now = performance.now()
  const idle = [...sessions.values()]
    .filter(({ open }) => open === 0)
    .sort((one, other) => one.lastUsed - other.lastUsed)
  const over = Math.max(0, sessions.size + 1 - limits.mostSessions)
  const ending = idle.filter(({ lastUsed }, index) => index < over || now - lastUsed > limits.idleMs)
  await Promise.all(ending.map((session) => session.end()))
}

const refuse = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
