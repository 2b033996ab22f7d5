/** The command that runs a shell command. */
import { Type } from '@sinclair/typebox'
import { command } from './command.ts'
import { done } from './fields.ts'

const pid = Type.Integer({
  minimum: 1,
  description: 'Process of the command, as the event `started` of its stream gave it.',
})

export const shellCommands = {
  run_command: command({
    summary: 'Run a shell command and wait for its end; what it leaves in the background goes on.',
    params: Type.Object({
      command: Type.Optional(Type.String({ minLength: 1, description: 'What `sh -c` runs.' })),
      command_args: Type.Optional(Type.String({ minLength: 1, description: 'The same, as some clients name it.' })),
      timeout: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 86_400,
          description: 'Seconds until all its processes are ended; none when absent.',
        }),
      ),
      cwd: Type.Optional(Type.String({ minLength: 1, description: 'Folder to run in; the home folder when absent.' })),
      env: Type.Optional(
        Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.String(), {
          description: 'Variables beside those of the server.',
        }),
      ),
      stdin: Type.Optional(Type.String({ description: 'What it reads; nothing when absent.' })),
      stdin_open: Type.Optional(
        Type.Boolean({ description: 'True where what it reads comes by `command_input`, to whose end it waits.' }),
      ),
    }),
    result: Type.Object({
      stdout: Type.String({ description: 'What is no UTF-8 becomes U+FFFD.' }),
      stderr: Type.String(),
      return_code: Type.Integer({ description: 'Exit status; 128 + N where signal N ended it.' }),
      returncode: Type.Integer({ description: 'The same.' }),
      truncated: Type.Optional(
        Type.Boolean({ description: 'True where an output was longer than is kept; its end is given then.' }),
      ),
    }),
    needs: 'shell',
    aliases: ['shell', 'exec'],
  }),
  command_input: command({
    summary: 'Give a running command more to read; its `run_command` said `stdin_open`.',
    params: Type.Object({
      pid,
      data_b64: Type.Optional(Type.String({ description: 'Bytes, in base64; none when absent.' })),
      end: Type.Optional(Type.Boolean({ description: 'True where nothing follows.' })),
    }),
    result: done,
    needs: 'shell',
  }),
  command_signal: command({
    summary: 'Send a signal to a running command and to all that it started.',
    params: Type.Object({
      pid,
      signal: Type.Optional(
        Type.String({ pattern: '^SIG[A-Z0-9]+$', description: 'Such as `SIGINT`; `SIGTERM` when absent.' }),
      ),
    }),
    result: done,
    needs: 'shell',
  }),
} as const
