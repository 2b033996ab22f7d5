/** Commands on terminals (PTYs); their output comes by `/pty/{pid}/stream` or `/pty/{pid}/ws`. */
import { Type } from '@sinclair/typebox'
import { command } from './command.ts'
import { done } from './fields.ts'

const pid = Type.Integer({ minimum: 1, description: 'Process of the terminal, as `terminal_create` gave it.' })
const cols = Type.Integer({ minimum: 1, maximum: 1_000, description: 'Columns.' })
const rows = Type.Integer({ minimum: 1, maximum: 1_000, description: 'Lines.' })

export const terminalCommands = {
  terminal_create: command({
    summary: 'Start a shell in a terminal.',
    params: Type.Object({
      shell: Type.Optional(Type.String({ minLength: 1, description: 'Program and arguments; `bash` when absent.' })),
      cols: Type.Optional(cols),
      rows: Type.Optional(rows),
      cwd: Type.Optional(Type.String({ minLength: 1, description: 'Folder to run in; the home folder when absent.' })),
      env: Type.Optional(
        Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.String(), {
          description: 'Variables beside those of the server.',
        }),
      ),
    }),
    result: Type.Object({ pid, cols, rows }),
    needs: 'pty',
  }),
  terminal_send: command({
    summary: 'Send input to a terminal, as it is.',
    params: Type.Object({ pid, data: Type.String() }),
    result: done,
    needs: 'pty',
    aliases: ['terminal_send_input'],
  }),
  terminal_resize: command({
    summary: 'Resize a terminal.',
    params: Type.Object({ pid, cols, rows }),
    result: done,
    needs: 'pty',
  }),
  terminal_close: command({
    summary: 'End a terminal and all that runs in it.',
    params: Type.Object({ pid }),
    result: Type.Object({
      result: Type.Union([Type.Integer(), Type.Null()], { description: 'Its exit status.' }),
      killed: Type.Boolean({ description: 'False where it had ended before.' }),
    }),
    needs: 'pty',
    flat: 'result',
  }),
} as const
