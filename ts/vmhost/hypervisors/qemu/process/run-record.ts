/** How a VM was started: written before its hypervisor is, so that whoever comes later knows what may live. */

import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { Forward, SharedDirectory } from '@backlot/contract/vmhost/vm'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { readIfThere, replaceFile } from '../../../files/durable.ts'
import { vmPath } from '../../../vms/vm-directory.ts'

/** The record; it holds the VNC password and is for its owner alone. */
export const RunRecord = Type.Object({
  hypervisor: choice(['qemu']),
  startedAt: Type.String(),
  accelerator: choice(['kvm', 'tcg']),
  memoryBytes: Type.Integer(),
  ipAddress: Type.Union([Type.String(), Type.Null()]),
  forwards: Type.Array(Forward),
  vncPassword: Type.Union([Type.String(), Type.Null()], { description: 'Null without a display.' }),
  sharedDirectories: Type.Union([Type.Array(SharedDirectory), Type.Null()]),
  /** Whether its memory was mapped from an image that others have too. */
  sharesMemory: Type.Optional(Type.Boolean()),
  qmpSocket: Type.String(),
  agentSocket: Type.String(),
})
export type RunRecord = Static<typeof RunRecord>

/** The record of the VM in `folder`, if it was started and nobody saw it end. Throws `vm_damaged`. */
export const readRun = async (folder: string): Promise<RunRecord | undefined> => {
  const path = vmPath(folder, 'run')
  const text = await readIfThere(path)
  if (text === undefined) return undefined
  try {
    return Value.Decode(RunRecord, JSON.parse(text))
  } catch (error) {
    throw new Failure(
      'vm_damaged',
      `The record "${path}" of a running VM cannot be read: ${(error as Error).message}.`,
      { path },
    )
  }
}

/** Writes the record, durably. */
export const writeRun = (folder: string, run: RunRecord): Promise<void> =>
  replaceFile(vmPath(folder, 'run'), `${JSON.stringify(run)}\n`)
