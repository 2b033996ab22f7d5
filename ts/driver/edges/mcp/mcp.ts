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
import type { Caller } from '../caller.ts'
import type { StdioTransport } from './stdio.ts'

/** What every agent should know before its first call. */
const instructions = [
  'Drives the desktop in the background: the person keeps pointer, focus and the window in front.',
  'Find the window with list_windows or launch_app, look with get_window_state, then act on an element_index of that look.',
  'Look again after every change: the next look replaces the indices.',
  'An argument is described by the first tool that has it, and means the same in the others.',
  'Each action says whether its effect was seen (`effect`) and how (`evidence`); a failed call names the next step.',
].join(' ')

/** Serves until the client is gone; what its calls need is the caller's. */
export const serveMcp = async (caller: Caller, transport: StdioTransport): Promise<void> => {
  await mcpServer(caller, transport.ended).connect(transport)
  await transport.done
}

/** A server of the tools, for any transport; `ended` aborts when the client has hung up. */
export const mcpServer = (caller: Caller, ended: AbortSignal): Server => {
  const server = new Server({ name: 'backlot', version }, { capabilities: { tools: {} }, instructions })
  const registry = () => import('../offer.ts')
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const [{ briefHere }, access] = await Promise.all([registry(), caller.access()])
    return { tools: await briefHere(access) } as unknown as ServerResult
  })
  // The SDK's own way for tools checks every result, which decodes each picture once more; ours come from one place.
  server.fallbackRequestHandler = async (request, { signal }) => {
    if (request.method !== 'tools/call') throw new McpError(ErrorCode.MethodNotFound, 'Method not found')
    const asked = CallToolRequestSchema.safeParse(request)
    if (!asked.success)
      throw new McpError(ErrorCode.InvalidParams, `Invalid tools/call request: ${asked.error.message}`)
    const { name, arguments: args } = asked.data.params
    // Who hangs up, stops what acts; what looks, or arranges, is answered.
    const { isActing } = await registry()
    const until = isActing(name) ? AbortSignal.any([signal, ended]) : signal
    return (await caller.call(name, args ?? {}, until)) as unknown as ServerResult
  }
  // Nearly every client lists the tools next.
  server.oninitialized = () => void registry()
  return server
}
