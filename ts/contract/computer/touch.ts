/** Commands of touch screens. */
import { Type } from '@sinclair/typebox'
import { command } from './command.ts'
import { done } from './fields.ts'

const place = Type.Array(Type.Number(), { minItems: 2, maxItems: 2 })

export const touchCommands = {
  multitouch_gesture: command({
    summary: 'Move several fingers at the same time.',
    params: Type.Object({
      fingers: Type.Array(Type.Object({ start: place, end: place }), { minItems: 1, maxItems: 10 }),
      screen_w: Type.Optional(Type.Integer({ minimum: 1 })),
      screen_h: Type.Optional(Type.Integer({ minimum: 1 })),
      duration_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
      steps: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000 })),
    }),
    result: done,
    needs: 'touch',
    acts: true,
    only: 'android',
  }),
} as const
