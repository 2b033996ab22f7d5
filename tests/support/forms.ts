/** The two forms of a call: over MCP and from a shell. */
import type { TestDesktop } from './desktop.ts'
import type { McpClient } from './mcp-client.ts'

type Facts = Record<string, unknown>

/** Calls a tool in both forms, which must succeed, and gives the structured content of each. */
export const inBothForms = async <T = Facts>(
  on: TestDesktop,
  client: McpClient,
  name: string,
  args: Facts = {},
): Promise<readonly [mcp: T, shell: T]> => {
  const mcp = await client.ask<T>(name, args)
  const { stdout, stderr, status } = await on.backlot([name, JSON.stringify(args)])
  if (status !== 0) throw new Error(`backlot ${name} gave ${status}: ${stdout}${stderr}`)
  return [mcp, JSON.parse(stdout) as T]
}
