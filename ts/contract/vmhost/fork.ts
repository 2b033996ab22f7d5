/** Forks of a VM, and the operations of the VM host that make them and keep them ready. */
import { Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { choice } from '../fields/choice.ts'
import { storage } from './location.ts'
import { snapshotName } from './snapshot.ts'
import { vmName, vmReference } from './vm.ts'

/** Forks that are made at a time. */
const mostForks = 16
/** Forks of a VM that are kept ready at most. */
export const mostReady = 16

/** The operations. */
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
      'Of a `snapshot` they go on from where the VM was then, and nothing is done with the VM. It is answered when all of ' +
      'them run.',
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
      snapshot: Type.Optional(
        Type.String({ ...snapshotName, description: 'The snapshot of the VM that they go on from; it has a memory.' }),
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
      'snapshot_not_found',
      'snapshot_without_memory',
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
        snapshot: 'from where the VM is',
        replaced: 'forks have the user data of the VM',
        replacements: 'forks have the user data of the VM',
        storage: 'looked for in the default location, then in the others',
      },
    },
  }),
  poolVm: endpoint({
    method: 'POST',
    path: '/vms/{name}/pool',
    ours: true,
    summary: 'Keep forks of a suspended VM running and ready.',
    description:
      'A fork of the VM takes one that is ready, which gets its name, and another is made behind it. There are fewer where ' +
      'memory is short, and none while the VM is not suspended. It is answered before they are made; a service that is ' +
      'started again makes them anew. Without `size` it only tells how many there are.',
    params: Type.Object({ name: vmReference }),
    body: Type.Object({
      size: Type.Optional(
        Type.Integer({ minimum: 0, maximum: mostReady, description: 'How many are kept ready; 0 ends the pool.' }),
      ),
      storage: Type.Optional(storage),
    }),
    success: {
      status: 200,
      description: 'The pool as it is now.',
      result: Type.Object({
        name: Type.String(),
        size: Type.Integer({ description: 'How many are wanted.' }),
        ready: Type.Integer({ description: 'How many run and wait.' }),
        isMemoryShort: Type.Boolean({
          description: 'Whether fewer than wanted are kept because memory of this machine is short.',
        }),
      }),
    },
    refusal: 'Invalid request',
    refusals: ['vm_not_found', 'vm_not_suspended', 'vm_busy', 'already_running'],
    command: {
      group: 'vm',
      words: ['pool'],
      positional: ['name'],
      absent: {
        size: 'tells how many there are',
        storage: 'looked for in the default location, then in the others',
      },
    },
  }),
} as const
