/** Commands on windows. */
import { Type } from '@sinclair/typebox'
import { command } from './command.ts'
import { bounds, done, none } from './fields.ts'

const windowId = Type.Union([Type.Integer(), Type.String({ pattern: '^(0[xX][0-9a-fA-F]+|[0-9]+)$' })], {
  description: 'Id of a window; the active one when absent.',
})
const onWindow = Type.Object({ window_id: Type.Optional(windowId) })
const side = Type.Integer({ minimum: 1, maximum: 32_767, description: 'Pixels.' })
const place = Type.Integer({ minimum: -32_768, maximum: 32_767, description: 'Screen pixels.' })
const changing = { result: done, needs: 'windows', acts: true, only: 'desktop' } as const

export const windowCommands = {
  get_current_window_id: command({
    summary: 'Tell which window is active.',
    params: none,
    result: Type.Object({ window_id: Type.Integer() }),
    needs: 'windows',
    only: 'desktop',
    flat: 'window_id',
  }),
  get_application_windows: command({
    summary: 'List the windows of an application.',
    params: Type.Object({ app: Type.String({ minLength: 1, description: 'Its name, in any case.' }) }),
    result: Type.Object({ windows: Type.Array(Type.Integer(), { description: 'Ids, the front one first.' }) }),
    needs: 'windows',
    only: 'desktop',
    flat: 'windows',
  }),
  list_windows: command({
    summary: 'List the windows, the front one first.',
    params: Type.Object({
      app: Type.Optional(
        Type.String({ minLength: 1, description: 'A part of the name of their application, in any case.' }),
      ),
    }),
    result: Type.Object({
      windows: Type.Array(
        Type.Object({
          window_id: Type.Integer(),
          app_name: Type.String(),
          title: Type.String({ description: 'Empty where it has none.' }),
          bounds,
          active: Type.Boolean({ description: 'True where it has the focus.' }),
        }),
      ),
    }),
    needs: 'windows',
    only: 'desktop',
    flat: 'windows',
  }),
  get_window_name: command({
    summary: 'Tell the title of a window.',
    params: onWindow,
    result: Type.Object({ name: Type.String() }),
    needs: 'windows',
    only: 'desktop',
    flat: 'name',
  }),
  get_window_size: command({
    summary: 'Tell how large a window is.',
    params: onWindow,
    result: Type.Object({
      width: Type.Integer(),
      height: Type.Integer(),
      size: Type.Object({ width: Type.Integer(), height: Type.Integer() }),
    }),
    needs: 'windows',
    only: 'desktop',
  }),
  get_window_position: command({
    summary: 'Tell where a window is.',
    params: onWindow,
    result: Type.Object({
      x: Type.Integer(),
      y: Type.Integer(),
      position: Type.Object({ x: Type.Integer(), y: Type.Integer() }),
    }),
    needs: 'windows',
    only: 'desktop',
  }),
  set_window_size: command({
    summary: 'Resize a window.',
    params: Type.Object({ window_id: Type.Optional(windowId), width: side, height: side }),
    ...changing,
  }),
  set_window_position: command({
    summary: 'Move a window.',
    params: Type.Object({ window_id: Type.Optional(windowId), x: place, y: place }),
    ...changing,
  }),
  set_window_bounds: command({
    summary: 'Move and resize a window, as far as is given.',
    params: Type.Object({
      window_id: Type.Optional(windowId),
      x: Type.Optional(place),
      y: Type.Optional(place),
      width: Type.Optional(side),
      height: Type.Optional(side),
    }),
    ...changing,
  }),
  maximize_window: command({ summary: 'Maximise a window.', params: onWindow, ...changing }),
  minimize_window: command({ summary: 'Minimise a window.', params: onWindow, ...changing }),
  activate_window: command({
    summary: 'Bring a window to the front and make it active.',
    params: onWindow,
    ...changing,
  }),
  close_window: command({ summary: 'Ask a window to close.', params: onWindow, ...changing }),
  get_active_window_title: command({
    summary: 'Tell the title of the active window.',
    params: none,
    result: Type.Object({ result: Type.String({ description: 'Empty where no window is active.' }) }),
    needs: 'windows',
    flat: 'result',
  }),
  get_active_window_bounds: command({
    summary: 'Tell where the active window is and how large.',
    params: none,
    result: Type.Object({ bounds }),
    needs: 'windows',
    only: 'desktop',
    flat: 'bounds',
  }),
} as const
