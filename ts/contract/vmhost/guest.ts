/** Operations of the VM host inside a guest, through its agent. */
import { Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { storage } from './location.ts'
import { vmReference } from './vm.ts'

/** The operations. */
export const guestOperations = {
  execInVm: endpoint({
    method: 'POST',
    path: '/vms/{name}/exec',
    ours: true,
    summary: 'Run a command in a guest.',
    description:
      'The guest agent runs it with the shell of the guest, as the user that the agent runs as. It is answered when the ' +
      'command has ended; what takes longer than `timeoutSeconds` is ended. A guest that has just been started is waited ' +
      'for, `timeoutSeconds` from its start.',
    params: Type.Object({ name: vmReference }),
    body: Type.Object({
      command: Type.String({ minLength: 1, maxLength: 100_000, description: 'What the shell of the guest is to run.' }),
      timeoutSeconds: Type.Optional(
        Type.Number({ minimum: 0.1, maximum: 3600, default: 60, description: 'Seconds that it may take.' }),
      ),
      environment: Type.Optional(
        Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.String({ pattern: '^[^\\u0000]*$' }), {
          additionalProperties: false,
          description: 'Variables that it has beside those of the agent; guests with Linux only.',
        }),
      ),
      folder: Type.Optional(
        Type.String({ pattern: '^/[^\\u0000]*$', description: 'Where it begins; guests with Linux only.' }),
      ),
      input: Type.Optional(Type.String({ maxLength: 1_000_000, description: 'What it reads; without it nothing.' })),
      storage: Type.Optional(storage),
    }),
    success: {
      status: 200,
      description: 'It has ended.',
      result: Type.Object({
        stdout: Type.String(),
        stderr: Type.String(),
        stdoutTruncated: Type.Boolean({
          description: 'Whether the guest agent dropped the rest of `stdout`: it keeps 16 MiB.',
        }),
        stderrTruncated: Type.Boolean({ description: 'The same of `stderr`.' }),
        exitCode: Type.Integer({ description: 'Its exit status; 128 and the number of the signal that ended it.' }),
      }),
    },
    refusal: 'Invalid request body',
    refusals: ['vm_not_found', 'vm_not_running', 'vm_busy', 'agent_unavailable', 'guest_timeout'],
    command: {
      group: 'vm',
      words: ['exec'],
      positional: ['name', 'command'],
      absent: {
        environment: 'those of the agent',
        folder: 'that of the agent',
        input: 'nothing',
        storage: 'looked for in the default location, then in the others',
      },
    },
  }),
} as const
