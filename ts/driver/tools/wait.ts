/** Waiting until something is so, instead of looking again and again. */

import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { waiting as limits, longestTimeoutMs } from '@backlot/contract/limits'
import { Type } from '@sinclair/typebox'
import { reasonOf } from '../ending.ts'
import { conditions, type Reading } from '../observation/conditions.ts'
import { elementIndex, pid, windowId } from '../tool/arguments.ts'
import { reads, tool } from '../tool/tool.ts'

const names = Object.keys(conditions) as (keyof typeof conditions)[]

export const waitFor = tool({
  name: 'wait_for',
  title: 'Wait for something',
  description:
    'Waits until an element (role, label), a text, a window (title) is there or gone, or until the pixels of a window are still; says what it saw.',
  arguments: Type.Object({
    condition: choice(names),
    pid: Type.Optional(pid),
    window_id: Type.Optional({ ...windowId, more: 'Default: the frontmost of pid.' }),
    role: Type.Optional(Type.String({ minLength: 1, description: 'As get_window_state names it.' })),
    label: Type.Optional(Type.String({ minLength: 1, more: 'Part of the label, in any case.' })),
    element_index: Type.Optional({ ...elementIndex, description: 'For element_gone.' }),
    text: Type.Optional(Type.String({ minLength: 1, more: 'Part of what the tree shows, in any case.' })),
    title: Type.Optional(Type.String({ minLength: 1, more: 'Part of the title, in any case.' })),
    still_ms: Type.Optional(
      Type.Integer({ minimum: 50, maximum: 10_000, default: limits.stillMs, more: 'For still.' }),
    ),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: longestTimeoutMs, default: limits.timeoutMs })),
  }),
  attributes: { ...reads('accessibility'), extension: true },
  findsElement: true,
  async run(call, args) {
    const { condition, timeout_ms = limits.timeoutMs } = args
    const watched = await conditions[condition](call, { still_ms: limits.stillMs, ...args })
    const started = performance.now()
    let reading: Reading
    for (;;) {
      reading = await watched.read()
      if (call.signal.aborted) throw reasonOf(call.signal)
      const waited_ms = Math.round(performance.now() - started)
      if (reading.met) {
        return {
          text: `✅ After ${waited_ms} ms: ${reading.saw}.`,
          structured: { condition, met: true, waited_ms, saw: reading.saw, ...reading.facts },
        }
      }
      const remaining = timeout_ms - waited_ms
      if (remaining <= 0) {
        throw new Failure(
          'condition_not_met',
          `Waited ${waited_ms} ms in vain for ${watched.what}; saw ${reading.saw}. Wait longer, or look with get_window_state.`,
          { condition, waited_ms, saw: reading.saw, ...reading.facts },
        )
      }
      await watched.next(Math.min(remaining, limits.recheckMs))
    }
  },
})
