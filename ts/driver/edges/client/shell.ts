/** The shell edge: a tool's arguments as JSON, its structured result on standard output, all talk on standard error. */
import { exitOf, Failure } from '@backlot/contract/failure'
import { failed, type ToolResult } from '../../tool/result.ts'
import { callRunning, type DaemonAddress, reachDaemon } from './launch.ts'

/** What a call from a shell says. */
export interface ShellCall {
  readonly name: string
  /** JSON of the arguments. */
  readonly json: string
  /** Runs the tool in this process, without a daemon. */
  readonly isDirect: boolean
  /** Which daemon otherwise. */
  readonly reach: DaemonAddress
}

/** Arguments are a JSON object; throws `invalid_json` for anything else. No text at all is no arguments. */
export const parseArguments = (json: string): Record<string, unknown> => {
  if (json.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw new Failure(
      'invalid_json',
      `The arguments are not JSON (${Failure.from(error).message}). Pass one JSON object in single quotes: '{"pid": 1}'.`,
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Failure('invalid_json', `The arguments are not a JSON object. Pass one in single quotes: '{"pid": 1}'.`)
  }
  return value as Record<string, unknown>
}

/** Calls the tool; throws `invalid_json` before anything is started. */
export const callFromShell = async ({ name, json, isDirect, reach }: ShellCall): Promise<ToolResult> => {
  const args = parseArguments(json)
  if (isDirect) return callHere(name, args)
  try {
    return await callDaemon(reach, name, args)
  } catch (error) {
    return failed((await import('@backlot/contract/system-failure')).failureOf(error))
  }
}

const callHere = async (name: string, args: Record<string, unknown>): Promise<ToolResult> => {
  const [{ directRunner }, { fullAccess }, { anonymous }] = await Promise.all([
    import('../direct.ts'),
    import('../access.ts'),
    import('../../session/sessions.ts'),
  ])
  await using runner = directRunner(fullAccess, anonymous)
  return await runner.call(name, args, new AbortController().signal)
}

/** Calls the daemon; none is started for a name that no tool has. */
const callDaemon = (reach: DaemonAddress, name: string, args: unknown): Promise<ToolResult> =>
  reachDaemon(reach, async () => {
    try {
      return await callRunning(reach, name, args)
    } catch (error) {
      if (Failure.from(error).code === 'not_running') {
        const { findTool, unknownTool } = await import('../../tool/registry.ts')
        if (findTool(name) === undefined) throw unknownTool(name)
      }
      throw error
    }
  })

/** Exit status of a call: 0, or what the row of its failure says. */
export const statusOf = (result: ToolResult): number =>
  result.isError === true ? exitOf(result.structuredContent?.code) : 0

/** What standard error says: the first line of a success, the whole text of a failure. */
export const talkOf = (result: ToolResult): string => {
  const [first] = result.content
  const text = first?.type === 'text' ? first.text : ''
  return result.isError === true ? `error: ${text}` : (text.split('\n', 1)[0] ?? '')
}
