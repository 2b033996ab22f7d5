/** Operations of the VM host inside a guest, through its agent. */
import { type Static, Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { choice } from '../fields/choice.ts'
import { storage } from './location.ts'
import { vmReference } from './vm.ts'

/** What a caller names an input by that he sends to a command while it runs. */
export const inputId = Type.String({
  pattern: '^[A-Za-z0-9-]{16,64}$',
  description:
    'A word of the caller, such as a UUID: the command reads what is sent to `/vms/{name}/exec/{inputId}/input` while it ' +
    'comes, of any length; guests with Linux only.',
})

/** A network card as the system of a guest knows it. */
export const NetworkInterface = Type.Object({
  name: Type.String({ description: 'What the guest calls it.' }),
  macAddress: Type.Union([Type.String(), Type.Null()], { description: 'In lower case; null where it has none.' }),
  addresses: Type.Array(
    Type.Object({
      family: choice(['ipv4', 'ipv6']),
      address: Type.String(),
      prefix: Type.Integer({ description: 'Bits of it that name the network.' }),
    }),
  ),
})
export type NetworkInterface = Static<typeof NetworkInterface>

/** The operations. */
export const guestOperations = {
  listInterfaces: endpoint({
    method: 'GET',
    path: '/vms/{name}/interfaces',
    ours: true,
    summary: 'List the network interfaces of a guest, with their addresses.',
    description:
      'As its agent tells them now; from this machine the guest is reached at the `ipAddress` of its VM instead. A guest ' +
      'that has just been started is waited for, 60 s from its start.',
    params: Type.Object({ name: vmReference }),
    query: Type.Object({ storage: Type.Optional(storage) }),
    success: { status: 200, description: 'The interfaces.', result: Type.Array(NetworkInterface) },
    refusal: 'Invalid request',
    refusals: ['vm_not_found', 'vm_not_running', 'vm_suspended', 'vm_busy', 'agent_unavailable'],
    command: {
      group: 'vm',
      words: ['interfaces'],
      positional: ['name'],
      absent: { storage: 'looked for in the default location, then in the others' },
    },
  }),
  execInVm: endpoint({
    method: 'POST',
    path: '/vms/{name}/exec',
    ours: true,
    summary: 'Run a command in a guest.',
    description:
      'The guest agent runs it with the shell of the guest, as the user that the agent runs as. It is answered when the ' +
      'command has ended; what takes longer than `timeoutSeconds` is ended, and what a caller asked for who has gone away. ' +
      'A guest that has just been started is waited for, `timeoutSeconds` from its start.',
    params: Type.Object({ name: vmReference }),
    body: Type.Object({
      command: Type.String({ minLength: 1, maxLength: 100_000, description: 'What the shell of the guest is to run.' }),
      timeoutSeconds: Type.Optional(
        Type.Number({ minimum: 0.1, maximum: 3600, default: 60, description: 'Seconds that it may take.' }),
      ),
      environment: Type.Optional(
        Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.String({ pattern: '^[^\\u0000]*$' }), {
          additionalProperties: false,
          description:
            'Variables that it has beside those of the agent, on no command line of the guest; guests with Linux only.',
        }),
      ),
      folder: Type.Optional(
        Type.String({ pattern: '^/[^\\u0000]*$', description: 'Where it begins; guests with Linux only.' }),
      ),
      input: Type.Optional(Type.String({ maxLength: 1_000_000, description: 'What it reads; without it nothing.' })),
      inputId: Type.Optional(inputId),
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
        inputId: 'nothing is sent',
        storage: 'looked for in the default location, then in the others',
      },
    },
  }),
} as const
