/** Running one tool, for a call of its own or as a part of another. */
import { addAbortListener } from 'node:events'
import type { Static, TObject } from '@sinclair/typebox'
import { typedTexts } from '../action/typing.ts'
import type { Call } from '../context.ts'
import { reasonOf } from '../ending.ts'
import { emptyNotes, type Notes } from '../notes.ts'
import { observed } from '../observation/observe.ts'
import { withElementIndex } from '../observation/tokens.ts'
import { recordingsOf } from '../recording/recordings.ts'
import type { Outcome, Tool } from './tool.ts'

/**
 * Runs a tool on checked arguments: finds the element of a token, and adds what was asked for beside the tool's answer.
 * Aborting the call ends it at once; a tool that holds calls says itself which of them were done.
 */
export const runTool = async (caller: Call, tool: Tool, checked: Static<TObject>): Promise<Outcome> => {
  const call = { ...caller, types: typedTexts(tool, checked), notes: emptyNotes() }
  const run = async (): Promise<Outcome> => {
    const args = tool.findsElement ? checked : await withElementIndex(call, checked)
    const { lateEffects } = call.driver
    const { pid } = args as { readonly pid?: unknown }
    const mayAct = tool.attributes.pausable && tool.nested === undefined && tool.onlyReads?.(checked) !== true
    if (mayAct && typeof pid === 'number') await lateEffects.begin(call, pid)
    let outcome: Outcome | undefined
    try {
      outcome = await tool.run(call, args)
    } finally {
      lateEffects.release(call, outcome !== undefined)
    }
    lateEffects.follow(call, tool.name, outcome)
    return observed(call, args, withNotes(call.notes, withoutContents(call, tool, outcome)))
  }
  return recordingsOf(call.driver).recordCall(call, tool, checked, () =>
    tool.nested === undefined ? untilAborted(run, call.signal) : run(),
  )
}

/** What an application made is masked before it becomes a part of another call's result. */
const withoutContents = ({ driver: { secrets } }: Call, { attributes }: Tool, outcome: Outcome): Outcome => {
  const { contents = [] } = attributes
  if (contents.length === 0 || secrets.isEmpty) return outcome
  const made = contents.filter((name) => Object.hasOwn(outcome.structured, name))
  const masked = made.map((name) => [name, secrets.withoutAny(outcome.structured[name])])
  return { ...outcome, structured: { ...outcome.structured, ...Object.fromEntries(masked) } }
}

const ways = { toolkit: 'by its toolkit', wheel: 'with the wheel' } as const

/** The outcome with what the caller has to know of the notes: another element was used, something was scrolled first. */
const withNotes = ({ lookalike, scrolled }: Notes, outcome: Outcome): Outcome => ({
  ...outcome,
  text: [
    outcome.text,
    lookalike && `The element meant is gone; the only ${lookalike.role} "${lookalike.label}" in its place was used.`,
    scrolled && `It was out of view and was scrolled to first, ${ways[scrolled]}.`,
  ]
    .filter((sentence) => sentence !== undefined)
    .join(' '),
  structured: {
    ...outcome.structured,
    ...(lookalike && { element_resolved: lookalike }),
    ...(scrolled && { scrolled_into_view: scrolled }),
  },
})

const untilAborted = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  if (signal.aborted) throw reasonOf(signal)
  const { promise, reject } = Promise.withResolvers<never>()
  using _stopping = addAbortListener(signal, () => reject(reasonOf(signal)))
  return await Promise.race([work(), promise])
}
