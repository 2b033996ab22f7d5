/** Commands that move the pointer, press its buttons and turn its wheel. */
import { Type } from '@sinclair/typebox'
import { choice } from '../fields/choice.ts'
import { command } from './command.ts'
import { button, done, maybeAt, modifiers, none, x, y } from './fields.ts'

const notches = (what: string) =>
  Type.Optional(
    Type.Number({ minimum: -32_768, maximum: 32_767, description: `${what}; otherwise notches of the wheel.` }),
  )

const clicks = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 1_000, description: 'Notches of the wheel; 1 when absent.' }),
)

const duration = Type.Optional(
  Type.Number({ minimum: 0, maximum: 60, description: 'Seconds from the press to the release; 0.5 when absent.' }),
)

const place = Type.Array(Type.Number({ minimum: -32_768, maximum: 32_767 }), { minItems: 2, maxItems: 2 })

const acting = { result: done, needs: 'input', acts: true } as const

export const pointerCommands = {
  get_cursor_position: command({
    summary: 'Tell where the pointer is.',
    params: none,
    result: Type.Object({ position: Type.Object({ x: Type.Number(), y: Type.Number() }) }),
    needs: 'display',
    flat: 'position',
  }),
  left_click: command({
    summary: 'Click, with the left button where no other is named.',
    params: Type.Object({ ...maybeAt, button, modifiers }),
    aliases: ['click', 'tap'],
    ...acting,
  }),
  right_click: command({
    summary: 'Click with the right button.',
    params: Type.Object({ ...maybeAt, modifiers }),
    ...acting,
  }),
  middle_click: command({
    summary: 'Click with the middle button.',
    params: Type.Object({ ...maybeAt, modifiers }),
    ...acting,
  }),
  double_click: command({
    summary: 'Click twice, as fast as it takes to count as one double click.',
    params: Type.Object({ ...maybeAt, button, modifiers }),
    ...acting,
  }),
  triple_click: command({
    summary: 'Click three times, which selects a line in most editors.',
    params: Type.Object({ ...maybeAt, button, modifiers }),
    ...acting,
  }),
  mouse_down: command({
    summary: 'Press a button and keep it down.',
    params: Type.Object({ ...maybeAt, button }),
    ...acting,
  }),
  mouse_up: command({
    summary: 'Let a button go.',
    params: Type.Object({ ...maybeAt, button }),
    ...acting,
  }),
  move_cursor: command({
    summary: 'Move the pointer.',
    params: Type.Object({ x, y }),
    ...acting,
  }),
  drag: command({
    summary: 'Press a button, move along a path, let it go.',
    params: Type.Object({
      path: Type.Optional(
        Type.Array(place, { minItems: 1, maxItems: 1_000, description: 'Places `[x, y]` on the way.' }),
      ),
      start_x: Type.Optional(x),
      start_y: Type.Optional(y),
      end_x: Type.Optional(x),
      end_y: Type.Optional(y),
      button,
      duration,
    }),
    ...acting,
  }),
  drag_to: command({
    summary: 'Press a button where the pointer is, move to a place, let it go.',
    params: Type.Object({ x, y, button, duration }),
    ...acting,
  }),
  scroll: command({
    summary: 'Turn the wheel.',
    params: Type.Object({
      x: notches('Right; with `scroll_x` or `scroll_y` the place to scroll at, in screen pixels'),
      y: notches('Up; with `scroll_x` or `scroll_y` the place to scroll at, in screen pixels'),
      scroll_x: notches('Right'),
      scroll_y: notches('Up'),
    }),
    ...acting,
  }),
  scroll_up: command({
    summary: 'Turn the wheel up.',
    params: Type.Object({ clicks, ...maybeAt }),
    ...acting,
  }),
  scroll_down: command({
    summary: 'Turn the wheel down.',
    params: Type.Object({ clicks, ...maybeAt }),
    ...acting,
  }),
  scroll_direction: command({
    summary: 'Turn the wheel in a direction.',
    params: Type.Object({
      direction: choice(['up', 'down', 'left', 'right'], { description: 'Which way.' }),
      clicks,
      ...maybeAt,
    }),
    ...acting,
  }),
} as const
