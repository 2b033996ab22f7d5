/** Operations of the VM host that keep a VM with its memory. */
import { Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { Done, storage } from './location.ts'
import { vmReference } from './vm.ts'

const params = Type.Object({ name: vmReference })
const body = Type.Object({ storage: Type.Optional(storage) })
const absent = { storage: 'looked for in the default location, then in the others' } as const

/** The operations. */
export const suspendOperations = {
  suspendVm: endpoint({
    method: 'POST',
    path: '/vms/{name}/suspend',
    ours: true,
    leniently: true,
    summary: 'Save a VM with its memory, and end its hypervisor.',
    description:
      'It is answered when memory and disk are on the drive where the VM is kept. Connections to the guest end. Where ' +
      'the memory cannot be saved, as while the guest has a shared folder mounted, it is refused and the VM runs on.',
    params,
    body,
    success: { status: 200, description: 'The VM is suspended.', result: Done },
    refusal: 'Invalid request',
    refusals: [
      'vm_not_found',
      'vm_not_running',
      'vm_suspended',
      'vm_busy',
      'memory_not_saved',
      'disk_full',
      'cancelled',
    ],
    command: { group: 'vm', words: ['suspend'], positional: ['name'], absent },
  }),
  resumeVm: endpoint({
    method: 'POST',
    path: '/vms/{name}/resume',
    ours: true,
    leniently: true,
    summary: 'Let a suspended VM go on where it was.',
    description:
      'It is answered when its processor runs. A memory that this QEMU cannot read is refused with both versions, and ' +
      'the VM stays suspended.',
    params,
    body,
    success: { status: 200, description: 'The VM runs.', result: Done },
    refusal: 'Invalid request',
    refusals: ['vm_not_found', 'vm_running', 'vm_not_suspended', 'vm_busy', 'memory_unreadable', 'cancelled'],
    command: { group: 'vm', words: ['resume'], positional: ['name'], absent },
  }),
} as const
