/** An MCP server with one tool that does nothing: what the SDK itself costs. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const nothing = Type.Object({}, { additionalProperties: true })
const server = new Server({ name: 'empty', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'nothing', description: 'Does nothing.', inputSchema: nothing }],
}))
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: 'text', text: String(Value.Check(nothing, params.arguments ?? {})) }],
}))
await server.connect(new StdioServerTransport())
