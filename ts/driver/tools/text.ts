/** Text: inserted through the toolkit, else typed on the agent's own keyboard. */
import { Failure } from '@backlot/contract/failure'
import { accessibleActionTimeoutMs, longestText, typingDelayMs } from '@backlot/contract/limits'
import type { Point, Window } from '@backlot/native'
import { Type } from '@sinclair/typebox'
import { act, answer, deliver } from '../action/act.ts'
import type { Evidence } from '../action/evidence.ts'
import { focusedElement, focusForKeys, middleIn } from '../action/focus.ts'
import { noteFocusedElement } from '../action/focused-element.ts'
import {
  type ElementTarget,
  elementOf,
  nameOf,
  orUnknownOutcome,
  refuseDisabled,
  windowOrFrontmost,
} from '../action/target.ts'
import type { Call } from '../context.ts'
import type { IndexedElement } from '../observation/elements.ts'
import { elementIndex, pid, windowId } from '../tool/arguments.ts'
import { acts, type Outcome, tool } from '../tool/tool.ts'

export const typeText = tool({
  name: 'type_text',
  title: 'Type text',
  description: 'Inserts text at the caret of an element or of what has the focus. For keys like return use press_key.',
  arguments: Type.Object({
    pid,
    text: Type.String({ minLength: 1, maxLength: longestText }),
    element_index: Type.Optional(elementIndex),
    window_id: Type.Optional(windowId),
    secret: Type.Optional(
      Type.Boolean({
        description: 'Keep the text out of recordings and later answers.',
        more: 'That of password fields is kept out anyway.',
        extension: true,
      }),
    ),
    delay_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000,
        default: typingDelayMs,
        more: 'Between characters, where they are typed as keys.',
      }),
    ),
  }),
  attributes: { ...acts('accessibility'), types: ['text'] },
  async run(call, args) {
    const delay_ms = args.delay_ms ?? typingDelayMs
    const found = await elementOf(call, args)
    if (found !== undefined) {
      refuseDisabled(found.target)
      return (await insert(call, found, args.text)) ?? typeInto(call, found, args.text, delay_ms)
    }
    const window = await windowOrFrontmost(call, args.pid, args.window_id)
    const target = await focusedElement(call, window)
    const inserted = target?.element.editable ? await insert(call, { window, target }, args.text) : undefined
    return inserted ?? typeOn(call, { window, target }, args.text, delay_ms)
  },
})

/** Inserts through the toolkit; `undefined` where the element has no text interface to insert through. */
const insert = async (call: Call, context: ElementTarget, text: string): Promise<Outcome | undefined> => {
  const { window, target } = context
  let route = ''
  try {
    const action = await act(call, { ...context, text, keepsFocus: true }, async (): Promise<Evidence[]> => {
      const asked = target.snapshot.insertText(target.index, text, accessibleActionTimeoutMs)
      const inserted = await orUnknownOutcome(window, target.index, asked)
      route = inserted.route
      return inserted.confirmed
        ? [{ kind: 'value_read_back', detail: 'the text was read back from the element' }]
        : [{ kind: 'ax_action', detail: `the toolkit accepted the text through "${route}"` }]
    })
    return answer(`✅ Inserted ${characters(text)} into ${nameOf(target)}.`, action, { route })
  } catch (error) {
    if (Failure.from(error).code !== 'text_not_supported') throw error
    return undefined
  }
}

/** Types into the element that the call names, which is given the focus first. */
const typeInto = async (call: Call, context: ElementTarget, text: string, delay_ms: number): Promise<Outcome> => {
  const { target, at, evidence } = await focusForKeys(call, context)
  await noteFocusedElement(call, context.window, target)
  return typeKeys(call, { window: context.window, target, at, focusEvidence: evidence }, text, delay_ms)
}

/**
 * Types on where the focus is. What has it, as far as is known, is given nothing first: the application may be moving it just
 * now, and a click would move more than that.
 */
const typeOn = (
  call: Call,
  { window, target }: { readonly window: Window; readonly target: IndexedElement | undefined },
  text: string,
  delay_ms: number,
): Promise<Outcome> => {
  const at = target === undefined ? null : middleIn({ window, target })
  return typeKeys(call, { window, target, at, focusEvidence: [] }, text, delay_ms)
}

/** Where keys go, and what was done for that. */
interface Typing {
  readonly window: Window
  readonly target: IndexedElement | undefined
  readonly at: Point | null
  readonly focusEvidence: readonly Evidence[]
}

const typeKeys = async (
  call: Call,
  { window, target, at, focusEvidence }: Typing,
  text: string,
  delay_ms: number,
): Promise<Outcome> => {
  const { window_id } = window
  // A tab goes on to the next element, and a line end may do anything.
  const keepsFocus = !/\p{Cc}/u.test(text)
  const context = { window, target, text, hasPendingEvents: focusEvidence.length > 0, keepsFocus }
  const typed = await act(call, context, () =>
    deliver(call, (agent) => agent.typeText({ window_id, text, delay_ms, at })),
  )
  const where = target === undefined ? `window ${window_id}` : nameOf(target)
  const evidence = [...focusEvidence, ...typed.evidence]
  return answer(`✅ Typed ${characters(text)} into ${where}.`, { ...typed, evidence }, { route: 'agent_keyboard' })
}

const characters = (text: string): string => {
  const count = [...text].length
  return `${count} character${count === 1 ? '' : 's'}`
}
