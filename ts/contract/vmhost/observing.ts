/** Operations of the VM host that tell what it does. */
import { type TBoolean, Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { choice } from '../fields/choice.ts'
import { Operation } from './operation.ts'

/** What a hypervisor may be able to do with VMs beside running and ending them. */
export const hypervisorFeatures = [
  'suspend',
  'snapshots',
  'forks',
  'pools',
  'templates',
  'memoryBalloon',
  'diskGrowth',
  'sharedFolders',
  'guestAgent',
] as const
export type HypervisorFeature = (typeof hypervisorFeatures)[number]

const one = Type.Object({ id: Type.String({ description: 'The id of the operation.' }) })

const features = Object.fromEntries(hypervisorFeatures.map((each) => [each, Type.Boolean()])) as Record<
  HypervisorFeature,
  TBoolean
>

/** The operations. */
export const observingOperations = {
  getLogs: endpoint({
    method: 'GET',
    path: '/logs',
    summary: 'Show the log of the service.',
    description: 'One JSON object a line, with `time`, `level` and `event`; the last one last.',
    query: Type.Object({
      type: Type.Optional(
        choice(['info', 'error', 'all'], { default: 'all', description: 'Which lines: `info`, `error` or `all`.' }),
      ),
      lines: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Lines of each kind, from the end.' }),
      ),
    }),
    success: {
      status: 200,
      description: 'The lines of the kinds that were asked for.',
      result: Type.Object({
        info: Type.Optional(Type.Array(Type.String())),
        error: Type.Optional(Type.Array(Type.String())),
      }),
    },
    refusal: 'Failed to read logs',
    command: { group: 'host', words: ['logs'], positional: [], absent: { lines: 'all of them' } },
  }),
  getHostStatus: endpoint({
    method: 'GET',
    path: '/host/status',
    ours: true,
    summary: 'Show whether the host is well, and how many VMs it has room for.',
    description: '`version` is that of the interface as existing clients know it.',
    success: {
      status: 200,
      description: 'It is well.',
      result: Type.Object({
        status: choice(['healthy']),
        vm_count: Type.Integer({ description: 'VMs that run.' }),
        max_vms: Type.Integer({ description: 'VMs that the memory of this host allows.' }),
        available_slots: Type.Integer(),
        version: Type.String(),
        backlot: Type.String({ description: 'Version of Backlot.' }),
        hypervisor: Type.Object(
          {
            name: Type.String(),
            features: Type.Object(features),
          },
          { description: 'What runs the VMs, and what it can do; what needs a feature that it lacks is refused.' },
        ),
      }),
    },
    refusal: 'Invalid request',
    command: { group: 'host', words: ['status'], positional: [] },
  }),
  listOperations: endpoint({
    method: 'GET',
    path: '/operations',
    ours: true,
    summary: 'List the operations.',
    description: 'Those under way and the last that ended, the latest last.',
    success: { status: 200, description: 'The operations.', result: Type.Array(Operation) },
    refusal: 'Invalid request',
    command: { group: 'host', words: ['operations', 'list'], usual: true, positional: [] },
  }),
  getOperation: endpoint({
    method: 'GET',
    path: '/operations/{id}',
    ours: true,
    refusals: ['operation_not_found'],
    summary: 'Show an operation.',
    description: 'Its state, its progress, and why it failed.',
    params: one,
    success: { status: 200, description: 'The operation.', result: Operation },
    refusal: 'Invalid request',
    command: { group: 'host', words: ['operations', 'get'], positional: ['id'] },
  }),
  cancelOperation: endpoint({
    method: 'DELETE',
    path: '/operations/{id}',
    ours: true,
    refusals: ['operation_not_found', 'operation_over'],
    summary: 'Cancel an operation.',
    description:
      'What it has made is removed; it is `cancelled` once that is done, or `done` where it was too late to undo.',
    params: one,
    success: { status: 200, description: 'It is being cancelled.', result: Operation },
    refusal: 'Invalid request',
    command: { group: 'host', words: ['operations', 'cancel'], positional: ['id'] },
  }),
} as const
