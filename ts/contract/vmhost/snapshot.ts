/** Snapshots of a VM, and the operations of the VM host on them. */
import { type Static, Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { Done, storage } from './location.ts'
import { vmName, vmReference } from './vm.ts'

/** What a snapshot may be called. */
export const snapshotName = Type.String({
  ...vmName,
  description: String(vmName.description).replace('the VM', 'the snapshot'),
})

/** A VM as it was: its disk, and its memory where it ran or was suspended. */
export const Snapshot = Type.Object({
  name: snapshotName,
  createdAt: Type.String({ description: 'In ISO 8601.' }),
  hasMemory: Type.Boolean({ description: 'Whether the VM goes on from it, and does not boot.' }),
  memoryBytes: Type.Integer({ description: 'Bytes that the saved memory takes on the drive; 0 without one.' }),
  follows: Type.Union([snapshotName, Type.Null()], {
    description:
      'The snapshot from which the VM had come to be what is kept; null where there is none, or not any more.',
  }),
})
export type Snapshot = Static<typeof Snapshot>

const params = Type.Object({ name: vmReference })
const one = Type.Object({ name: vmReference, snapshot: snapshotName })
const where = Type.Object({ storage: Type.Optional(storage) })
const absent = { storage: 'looked for in the default location, then in the others' } as const
const positional = ['name', 'snapshot'] as const

/** The operations. */
export const snapshotOperations = {
  takeSnapshot: endpoint({
    method: 'POST',
    path: '/vms/{name}/snapshots',
    ours: true,
    summary: 'Keep a VM as it is now, with its memory where it has one.',
    description:
      'Nothing of the disk is copied. A VM that runs is suspended for it and goes on: it stands still for as long as that ' +
      'takes, and connections to it end. It is answered when the snapshot is on the drive and the VM goes on.',
    params,
    body: Type.Object({ snapshot: snapshotName, storage: Type.Optional(storage) }),
    success: { status: 200, description: 'The snapshot exists.', result: Snapshot },
    refusal: 'Invalid request',
    refusals: ['vm_not_found', 'vm_busy', 'snapshot_exists', 'memory_not_saved', 'disk_full', 'cancelled'],
    command: { group: 'vm', words: ['snapshot', 'create'], positional, absent },
  }),
  listSnapshots: endpoint({
    method: 'GET',
    path: '/vms/{name}/snapshots',
    ours: true,
    summary: 'List the snapshots of a VM.',
    description: 'The oldest is the first.',
    params,
    query: where,
    success: { status: 200, description: 'The snapshots.', result: Type.Array(Snapshot) },
    refusal: 'Invalid request',
    refusals: ['vm_not_found', 'vm_busy'],
    command: { group: 'vm', words: ['snapshot', 'ls'], positional: ['name'], absent },
  }),
  restoreSnapshot: endpoint({
    method: 'POST',
    path: '/vms/{name}/snapshots/{snapshot}/restore',
    ours: true,
    leniently: true,
    summary: 'Make a VM what it was at a snapshot.',
    description:
      'What it is now, its disk and a saved memory, is lost; take a snapshot before to keep it. One with a memory leaves ' +
      'the VM suspended. A VM that runs is refused.',
    params: one,
    body: where,
    success: { status: 200, description: 'The VM is what it was.', result: Done },
    refusal: 'Invalid request',
    refusals: ['vm_not_found', 'vm_running', 'vm_busy', 'snapshot_not_found'],
    command: { group: 'vm', words: ['snapshot', 'restore'], positional, absent },
  }),
  deleteSnapshot: endpoint({
    method: 'DELETE',
    path: '/vms/{name}/snapshots/{snapshot}',
    ours: true,
    summary: 'Delete a snapshot of a VM.',
    description: 'The VM, its other snapshots and its copies stay as they are.',
    params: one,
    query: where,
    success: { status: 200, description: 'The snapshot is gone.', result: Done },
    refusal: 'Invalid request',
    refusals: ['vm_not_found', 'vm_busy', 'snapshot_not_found'],
    command: { group: 'vm', words: ['snapshot', 'rm'], positional, absent },
  }),
} as const

/** Snapshots as a tree, each before those that follow it: it and how many are above it. */
export const inTree = (
  snapshots: readonly Snapshot[],
  after: string | null = null,
  depth = 0,
): { snapshot: Snapshot; depth: number }[] =>
  snapshots
    .filter(({ follows }) => follows === after)
    .flatMap((snapshot) => [{ snapshot, depth }, ...inTree(snapshots, snapshot.name, depth + 1)])
