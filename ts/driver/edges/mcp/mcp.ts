/** The MCP edge: the one file that speaks the protocol (revisions up to 2025-11-25) through its SDK. */
import { version } from '@backlot/contract/version'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerResult,
} from '@modelcontextprotocol/sdk/types.js'
import type { ToolRunner } from '../tool-runner.ts'
import type { StdioTransport } from './stdio.ts'

/** What every agent should know before its first call. */
const instructions = [
  'Drives the desktop in the background: the person keeps pointer, focus and the window in front.',
  'Find the window with list_windows or launch_app, look with get_window_state, then act on an element_index of that look.',
  'Look again after every change: the next look replaces the indices.',
  'An argument is described by the first tool that has it, and means the same in the others.',
  'Each action says whether its effect was seen (`effect`) and how (`evidence`); a failed call names the next step.',
].join(' ')

/** Serves until the client is gone; the runner of the tools stays the one who gave it. */
export const serveMcp = async (runner: ToolRunner, transport: StdioTransport): Promise<void> => {
  await mcpServer(runner, transport.ended).connect(transport)
  await transport.done
}

/** A server of the tools, for any transport; `ended` aborts when the client has hung up. */
export const mcpServer = (runner: ToolRunner, ended: AbortSignal): Server => {
  const server = new Server({ name: 'backlot', version }, { capabilities: { tools: {} }, instructions })
  const registry = () => import('../offer.ts')
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const [{ briefHere }, access] = await Promise.all([registry(), runner.access()])
    return { tools: await briefHere(access) } as unknown as ServerResult
  })
  // The SDK's own way for tools checks every result, which decodes each picture once more; ours come from one place.
  server.fallbackRequestHandler = async (request, { signal }) => {
    if (request.method !== 'tools/call') throw new McpError(ErrorCode.MethodNotFound, 'Method not found')
    const asked = CallToolRequestSchema.safeParse(request)
    if (!asked.success)
      throw new McpError(ErrorCode.InvalidParams, `Invalid tools/call request: ${asked.error.message}`)
    const { name, arguments: args } = asked.data.params
    // The end of the connection aborts calls of tools that act; other calls run until they are answered.
    const { isActing } = await registry()
    const until = isActing(name) ? AbortSignal.any([signal, ended]) : signal
    return (await runner.call(name, args ?? {}, until)) as unknown as ServerResult
  }
  // Nearly every client lists the tools next.
  server.oninitialized = () => void registry()
  return server
}
