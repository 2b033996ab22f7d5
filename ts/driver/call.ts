/** The one path of every call, whatever edge it came through: find, fill defaults, check, session, run, envelope. */
import { Failure } from '@backlot/contract/failure'
import { callsPerCollection } from '@backlot/contract/limits'
import { checkArguments } from './check.ts'
import type { Call, CallContext } from './context.ts'
import type { Driver } from './driver.ts'
import { hiddenArguments, isOffered, offersExtensions } from './extensions.ts'
import { recordingsOf } from './recording/recordings.ts'
import { findTool, unknownTool } from './registry.ts'
import { failed, succeeded, type ToolResult } from './result.ts'
import { runTool } from './run-tool.ts'
import { sessionOf } from './session-name.ts'
import type { Session } from './sessions.ts'

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
    recordingsOf(driver).touch()
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

let calls = 0

/** The trees and pictures of past calls lie in memory long before the engine finds them worth a collection. */
const collectNowAndThen = (): void => {
  calls += 1
  // Not before the answer has left.
  if (calls % callsPerCollection === 0) setImmediate(() => Bun.gc(true))
}
