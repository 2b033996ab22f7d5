/** The tools that an edge offers: those of the registry that its access permits. */
import { type CallContext, callTool, unknownTool } from '../call.ts'
import { describeTool, type ToolDescription } from '../describe.ts'
import type { Driver } from '../driver.ts'
import { findTool, tools } from '../registry.ts'
import { failed, type ToolResult } from '../result.ts'
import { type Access, permitted, refusal } from './access.ts'

/** The permitted tools, as `tools/list` of MCP describes them. */
export const listTools = (access: Access): readonly ToolDescription[] =>
  tools.filter((tool) => permitted(access, tool)).map(describeTool)

/** One permitted tool. Throws `unknown_tool` or `tool_not_allowed`. */
export const describeNamed = (access: Access, name: string): ToolDescription => {
  const tool = findTool(name)
  if (tool === undefined) throw unknownTool(name)
  if (!permitted(access, tool)) throw refusal(access, name)
  return describeTool(tool)
}

/** The result of a call that the access keeps back; otherwise nothing. */
export const kept = (access: Access, name: string): ToolResult | undefined => {
  const tool = findTool(name)
  return tool === undefined || permitted(access, tool) ? undefined : failed(refusal(access, name))
}

/** Calls a tool in this process, if it is permitted; never throws. */
export const callPermitted = async (
  access: Access,
  driver: Driver,
  name: string,
  args: unknown,
  context: CallContext,
): Promise<ToolResult> => kept(access, name) ?? callTool(driver, name, args, context)
