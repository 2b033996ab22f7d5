/** The one path of every call, whatever edge it came through: find, fill defaults, check, session, run, envelope. */
import { Failure } from '@backlot/contract/failure'
import { callsPerCollection } from '@backlot/contract/limits'
import type { Static, TObject } from '@sinclair/typebox'
import { checkArguments, nearest } from './check.ts'
import { type Call, type CallContext, reasonOf } from './context.ts'
import type { Driver } from './driver.ts'
import { hiddenArguments, isOffered, offersExtensions } from './extensions.ts'
import { withResolved } from './lookalike.ts'
import { observed } from './observe.ts'
import { findTool, tools } from './registry.ts'
import { failed, succeeded, type ToolResult } from './result.ts'
import { sessionOf } from './session-name.ts'
import type { Session } from './sessions.ts'
import { withIndex } from './tokens.ts'
import type { Outcome, Tool } from './tool.ts'

export type { ToolResult }

/** Calls the tool `name`; never throws: whatever goes wrong is a result with `isError`. */
export const callTool = async (
  driver: Driver,
  name: string,
  args: unknown,
  context: CallContext,
): Promise<ToolResult> => {
  try {
    const tool = findTool(name)
    const extensions = await offersExtensions(driver.config)
    if (tool === undefined || !isOffered(tool, extensions)) throw unknownTool(name, extensions)
    // What cannot be meant is refused before the person's brake is looked at.
    const checked = checkArguments(tool, args, hiddenArguments(tool, extensions))
    const { session: fromEdge, ...edge } = context
    const caller = { ...edge, ...sessionOf(tool, args, fromEdge) }
    const isHeld = tool.attributes.pausable && tool.looks?.(checked) !== true
    const outcome = await driver.sessions.during(caller, context.signal, (owner, ending) => {
      const run = (signal: AbortSignal) => runTool(callOf(driver, { ...caller, signal }, owner), tool, checked)
      return isHeld ? driver.underBrake(ending, run) : run(ending)
    })
    return succeeded(outcome)
  } catch (error) {
    const failure = Failure.from(error)
    driver.heed(failure)
    return failed(failure)
  } finally {
    collectNowAndThen()
  }
}

/** What the handlers of a call are given. */
const callOf = (driver: Driver, context: CallContext, owner: Session): Call => ({
  driver,
  ...context,
  owner,
  config: async () => ({ ...(await driver.config.read()), ...owner.overrides }),
  gesture: (work) => driver.agents.gesture(owner.key, context.signal, work),
})

/**
 * Runs a tool on checked arguments: finds the element of a token, and adds what was asked for beside the tool's answer.
 * Aborting the call ends it at once; a tool that holds calls says itself which of them were done.
 */
export const runTool = async (call: Call, tool: Tool, checked: Static<TObject>): Promise<Outcome> => {
  const run = async (): Promise<Outcome> => {
    const args = tool.findsElement ? checked : await withIndex(call, checked)
    return observed(call, args, withResolved(call, await tool.run(call, args)))
  }
  return tool.nested === undefined ? untilAborted(run, call.signal) : run()
}

let calls = 0

/** The trees and pictures of past calls lie in memory long before the engine finds them worth a collection. */
const collectNowAndThen = (): void => {
  calls += 1
  // Not before the answer has left.
  if (calls % callsPerCollection === 0) setImmediate(() => Bun.gc(true))
}

/** The failure `unknown_tool`, with the nearest name. */
export const unknownTool = (name: string, extensions = true): Failure => {
  const names = tools.filter((tool) => isOffered(tool, extensions)).map((tool) => tool.name)
  const near = nearest(name, names)
  return new Failure(
    'unknown_tool',
    `There is no tool "${name}".${near === undefined ? '' : ` Did you mean "${near}"?`} Tools: ${names.join(', ')}.`,
    { nearest: near ?? null },
  )
}

const untilAborted = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  if (signal.aborted) throw reasonOf(signal)
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(reasonOf(signal))
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work(), promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
