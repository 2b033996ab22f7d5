/** Running one tool, for a call of its own or as a part of another. */
import type { Static, TObject } from '@sinclair/typebox'
import type { Call } from './context.ts'
import { reasonOf } from './ending.ts'
import { withResolved } from './lookalike.ts'
import { observed } from './observe.ts'
import { recordingsOf } from './recording/recordings.ts'
import { withIndex } from './tokens.ts'
import type { Outcome, Tool } from './tool.ts'
import { typedTexts } from './typing.ts'

/**
 * Runs a tool on checked arguments: finds the element of a token, and adds what was asked for beside the tool's answer.
 * Aborting the call ends it at once; a tool that holds calls says itself which of them were done.
 */
export const runTool = async (caller: Call, tool: Tool, checked: Static<TObject>): Promise<Outcome> => {
  const call = { ...caller, types: typedTexts(tool, checked) }
  const run = async (): Promise<Outcome> => {
    const args = tool.findsElement ? checked : await withIndex(call, checked)
    return observed(call, args, withResolved(call, await tool.run(call, args)))
  }
  return recordingsOf(call.driver).during(call, tool, checked, () =>
    tool.nested === undefined ? untilAborted(run, call.signal) : run(),
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
