/** The one path of every call, whatever edge it came through: find, fill defaults, check, session, run, envelope. */
import { Failure } from '@backlot/contract/failure'
import { keepSecret, secretsIn } from './action/typing.ts'
import type { Call, CallContext } from './context.ts'
import type { Driver } from './driver.ts'
import { emptyNotes } from './notes.ts'
import { recordingsOf } from './recording/recordings.ts'
import { ShortSecrets } from './secrets/short-secrets.ts'
import { sessionOf } from './session/session-name.ts'
import type { Session } from './session/sessions.ts'
import { checkArguments } from './tool/check.ts'
import { hiddenArguments, isOffered, offersExtensions } from './tool/extensions.ts'
import { findTool, unknownTool } from './tool/registry.ts'
import { failed, succeeded, type ToolResult } from './tool/result.ts'
import { runTool } from './tool/run-tool.ts'
import type { Outcome, Tool } from './tool/tool.ts'

export type { ToolResult }

/** Calls after which a driver collects its garbage. */
const callsPerCollection = 50

/** Calls the tool `name`; never throws: whatever goes wrong is a result with `isError`. */
export const callTool = async (
  driver: Driver,
  name: string,
  args: unknown,
  context: CallContext,
): Promise<ToolResult> => {
  const short = new ShortSecrets()
  const began = performance.now()
  try {
    const tool = findTool(name)
    if (tool !== undefined) keepSecret({ driver, short }, secretsIn(tool, args, findTool))
    const extensions = await offersExtensions(driver.config)
    if (tool === undefined || !isOffered(tool, extensions)) throw unknownTool(name, extensions)
    // What cannot be meant is refused before it is asked whether the person has paused.
    const checked = checkArguments(tool, args, hiddenArguments(tool, extensions))
    const { session: fromEdge, ...edge } = context
    const caller = { ...edge, ...sessionOf(tool, args, fromEdge) }
    const onlyLooks = tool.attributes.readOnly || tool.onlyReads?.(checked) === true
    const work = (owner: Session, ending: AbortSignal) => {
      const run = async (signal: AbortSignal) => {
        const outcome = await runTool(callOf(driver, { ...caller, signal }, owner, short), tool, checked)
        return driver.lateEffects.withLateFacts(owner.key, began, outcome)
      }
      return tool.attributes.pausable && !onlyLooks ? driver.unlessPaused(ending, run) : run(ending)
    }
    const outcome = await recordingsOf(driver).whileInUse(() =>
      driver.sessions.runCall(caller, context.signal, work, onlyLooks),
    )
    return succeeded(withoutSecrets(driver, short, tool, outcome))
  } catch (error) {
    const failure = Failure.from(error)
    driver.dropLost(failure)
    const { secrets } = driver
    const data = short.without(secrets.without(failure.data)) as Failure['data']
    return failed(new Failure(failure.code, short.maskedIn(secrets.masked(failure.message)), data))
  } finally {
    collectNowAndThen()
  }
}

/** A call's answer is masked as well: who reads it need not be who told the secret. */
const withoutSecrets = ({ secrets }: Driver, short: ShortSecrets, { attributes }: Tool, outcome: Outcome): Outcome => {
  if (secrets.isEmpty && short.isEmpty) return outcome
  const showsTrees = attributes.grants.includes('accessibility')
  const text = showsTrees ? secrets.maskedTree(outcome.text) : secrets.masked(outcome.text)
  const structured = secrets.without(outcome.structured)
  return { ...outcome, text: short.maskedIn(text), structured: short.without(structured) as Outcome['structured'] }
}

/** What the handlers of a call are given. */
const callOf = (driver: Driver, context: CallContext, owner: Session, short: ShortSecrets): Call => ({
  driver,
  ...context,
  owner,
  short,
  notes: emptyNotes(),
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
