/** The tools that an edge offers: those of the registry that its access permits, without what it withholds of them. */
import type { Failure } from '@backlot/contract/failure'
import { callTool } from '../call.ts'
import { ConfigFile, configFileAt } from '../config/config.ts'
import type { CallContext } from '../context.ts'
import type { Driver } from '../driver.ts'
import { type BriefDescription, briefTools } from '../tool/brief.ts'
import { describeTool, type ToolDescription } from '../tool/describe.ts'
import { hiddenArguments, isOffered, offersExtensions } from '../tool/extensions.ts'
import { findTool, tools, unknownTool } from '../tool/registry.ts'
import { failed, type ToolResult } from '../tool/result.ts'
import type { Tool } from '../tool/tool.ts'
import { type Access, argumentRefusal, permitted, refusal, withheld } from './access.ts'

/** The permitted tools, as `tools/list` of MCP describes them. */
export const listTools = (access: Access, extensions: boolean): readonly ToolDescription[] =>
  tools
    .filter((tool) => isOffered(tool, extensions) && permitted(access, tool))
    .map((tool) => describeTool(tool, unlisted(access, tool, extensions)))

/** The permitted tools as an agent reads them, by the configuration of this process's environment. */
export const briefHere = async (access: Access): Promise<readonly BriefDescription[]> => {
  const extensions = await offersExtensions(new ConfigFile(configFileAt(process.env)))
  const offered = tools.filter((tool) => isOffered(tool, extensions) && permitted(access, tool))
  return briefTools(offered.map((tool) => ({ tool, withheld: unlisted(access, tool, extensions) })))
}

/** The permitted tools by the configuration of this process's environment. */
export const listHere = async (access: Access): Promise<readonly ToolDescription[]> =>
  listTools(access, await offersExtensions(new ConfigFile(configFileAt(process.env))))

/** One permitted tool by the configuration of this process's environment. Throws as `describeNamed` does. */
export const describeHere = async (access: Access, name: string): Promise<ToolDescription> =>
  describeNamed(access, name, await offersExtensions(new ConfigFile(configFileAt(process.env))))

/** One permitted tool. Throws `unknown_tool` or `tool_not_allowed`. */
export const describeNamed = (access: Access, name: string, extensions: boolean): ToolDescription => {
  const tool = findTool(name)
  if (tool === undefined || !isOffered(tool, extensions)) throw unknownTool(name, extensions)
  if (!permitted(access, tool)) throw refusal(access, name)
  return describeTool(tool, unlisted(access, tool, extensions))
}

/** True of a tool that acts on the desktop, as the person could. */
export const isActing = (name: string): boolean => findTool(name)?.attributes.pausable === true

const unlisted = (access: Access, tool: Tool, extensions: boolean): readonly string[] => [
  ...withheld(access, tool),
  ...hiddenArguments(tool, extensions),
]

/** The result of a call that the access keeps back, or of one that holds such a call; otherwise nothing. */
export const refusedResult = (access: Access, name: string, args: unknown): ToolResult | undefined => {
  const failure = accessFailure(access, name, args)
  return failure && failed(failure)
}

const accessFailure = (access: Access, name: string, args: unknown): Failure | undefined => {
  const tool = findTool(name)
  if (tool === undefined) return undefined
  if (!permitted(access, tool)) return refusal(access, name)
  const given = args as Readonly<Record<string, unknown>> | null | undefined
  const argument = withheld(access, tool).find((each) => (given?.[each] ?? null) !== null)
  if (argument !== undefined) return argumentRefusal(access, name, argument)
  for (const call of tool.nested?.(args ?? {}) ?? []) {
    // Further nesting is refused by the tool itself.
    const nests = typeof call.name === 'string' && findTool(call.name)?.nested !== undefined
    const failure = typeof call.name === 'string' && !nests ? accessFailure(access, call.name, call.args) : undefined
    if (failure !== undefined) return failure
  }
  return undefined
}

/** Calls a tool in this process, if it is permitted; never throws. */
export const callPermitted = async (
  access: Access,
  driver: Driver,
  name: string,
  args: unknown,
  context: CallContext,
): Promise<ToolResult> => refusedResult(access, name, args) ?? callTool(driver, name, args, context)
