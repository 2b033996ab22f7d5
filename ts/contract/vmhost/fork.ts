/** Forks of a VM, and the operation of the VM host that makes them. */
import { Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { choice } from '../fields/choice.ts'
import { storage } from './location.ts'
import { vmName, vmReference } from './vm.ts'

/** Forks that are made at a time. */
const mostForks = 16

/** The operation. */
export const forkOperations = {
  forkVm: endpoint({
    method: 'POST',
    path: '/vms/{name}/fork',
    ours: true,
    summary: 'Make copies of a running VM that go on from where it is.',
    description:
      'Each has the memory and the disk as they are, and then ports, a MAC address, and, through the agent of its guest, ' +
      'a machine id, host keys, a host name, random numbers and the right time of its own; `identity` says whether the ' +
      'guest has them. The VM stands still meanwhile and goes on, connections to it end. One that is suspended stays so. ' +
      'It is answered when all of them run.',
    params: Type.Object({ name: vmReference }),
    body: Type.Object({
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: mostForks, default: 1, description: 'How many.' })),
      names: Type.Optional(
        Type.Array(vmName, {
          minItems: 1,
          maxItems: mostForks,
          description: 'What they are called, one name each; where absent, as the VM is with a number.',
        }),
      ),
      replaced: Type.Optional(
        Type.String({
          minLength: 8,
          maxLength: 1_000,
          description: 'A text in the user data of the VM, such as a key, that no fork is to have in its own.',
        }),
      ),
      replacements: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
          minItems: 1,
          maxItems: mostForks,
          description: 'What the user data of each fork has in its place, one text each.',
        }),
      ),
      storage: Type.Optional(storage),
    }),
    success: {
      status: 200,
      description: 'The forks run.',
      result: Type.Object({
        message: Type.String(),
        names: Type.Array(vmName),
        identity: Type.Array(choice(['own', 'shared'])),
        operationId: Type.String(),
      }),
    },
    refusal: 'Invalid request',
    refusals: [
      'vm_not_found',
      'vm_not_running',
      'vm_exists',
      'vm_busy',
      'memory_not_saved',
      'host_memory',
      'disk_full',
      'cancelled',
    ],
    command: {
      group: 'vm',
      words: ['fork'],
      positional: ['name'],
      absent: {
        names: 'the name of the VM with a number',
        replaced: 'forks have the user data of the VM',
        replacements: 'forks have the user data of the VM',
        storage: 'looked for in the default location, then in the others',
      },
    },
  }),
} as const
