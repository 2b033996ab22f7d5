/** The MCP edge: the one file that speaks the protocol (revisions up to 2025-11-25) through its SDK. */
import { version } from '@backlot/contract/version'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema, type ServerResult } from '@modelcontextprotocol/sdk/types.js'
import type { Caller } from './caller.ts'
import type { StdioTransport } from './stdio.ts'

/** What every agent should know before its first call. */
const instructions = [
  'Drives the desktop in the background: the person keeps pointer, focus and the window in front.',
  'Find the window with list_windows or launch_app, look with get_window_state, then act on an element_index of that look.',
  'Look again after every change: the next look replaces the indices.',
  'Each action says whether its effect was seen (`effect`) and how (`evidence`); a failed call names the next step.',
].join(' ')

/** Serves until the client is gone; what its calls need is the caller's. */
export const serveMcp = async (caller: Caller, transport: StdioTransport): Promise<void> => {
  const server = new Server({ name: 'backlot', version }, { capabilities: { tools: {} }, instructions })
  const registry = () => import('./offer.ts')
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const [{ listHere }, access] = await Promise.all([registry(), caller.access()])
    return { tools: await listHere(access) } as unknown as ServerResult
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const result = await caller.call(params.name, params.arguments ?? {}, signal)
    return result as unknown as ServerResult
  })
  // Nearly every client lists the tools next.
  server.oninitialized = () => void registry()
  await server.connect(transport)
  await transport.done
}
