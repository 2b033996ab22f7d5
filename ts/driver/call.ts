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
import type { Outcome, Tool } from './tool.ts'
import { secretsIn } from './typing.ts'

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
    if (tool !== undefined) driver.secrets.add(...secretsIn(tool, args, findTool))
    const extensions = await offersExtensions(driver.config)
    if (tool === undefined || !isOffered(tool, extensions)) throw unknownTool(name, extensions)
    // What cannot be meant is refused before the person's brake is looked at.
    const checked = checkArguments(tool, args, hiddenArguments(tool, extensions))
    const { session: fromEdge, ...edge } = context
    const caller = { ...edge, ...sessionOf(tool, args, fromEdge) }
    const isHeld = tool.attributes.pausable && tool.looks?.(checked) !== true
    const outcome = await recordingsOf(driver).using(() =>
      driver.sessions.during(caller, context.signal, (owner, ending) => {
        const run = (signal: AbortSignal) => runTool(callOf(driver, { ...caller, signal }, owner), tool, checked)
        return isHeld ? driver.underBrake(ending, run) : run(ending)
      }),
    )
    return succeeded(withoutSecrets(driver, tool, outcome))
  } catch (error) {
    const failure = Failure.from(error)
    driver.heed(failure)
    const { secrets } = driver
    const data = secrets.without(failure.data) as Failure['data']
    return failed(new Failure(failure.code, secrets.masked(failure.message), data))
  } finally {
    collectNowAndThen()
  }
}

/** A call's answer is masked as well: who reads it need not be who told the secret. */
const withoutSecrets = ({ secrets }: Driver, { attributes }: Tool, outcome: Outcome): Outcome => {
  if (secrets.isEmpty) return outcome
  const showsTrees = attributes.grants.includes('accessibility')
  return {
    ...outcome,
    text: showsTrees ? secrets.maskedTree(outcome.text) : secrets.masked(outcome.text),
    structured: secrets.without(outcome.structured) as Outcome['structured'],
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
