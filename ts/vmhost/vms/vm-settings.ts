/** What a VM is, as its file says: read with a check, written whole. */

import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { networkModes } from '@backlot/contract/vmhost/vm'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { readIfThere, replaceFile, writeSynced } from '../files/durable.ts'
import { vmPath } from './vm-directory.ts'

/** The settings; the name is the folder's. */
export const VmSettings = Type.Object({
  os: choice(['macOS', 'linux']),
  guestOs: Type.String(),
  cpu: Type.Integer({ minimum: 1 }),
  memoryBytes: Type.Integer({ minimum: 1 }),
  display: Type.Object({ width: Type.Integer(), height: Type.Integer() }),
  macAddress: Type.String(),
  uuid: Type.String(),
  /** What tells a guest that it is a copy (the VM Generation ID). */
  generationId: Type.String(),
  /** cloud-init runs its per-instance steps once for each. */
  instanceId: Type.String(),
  network: choice(networkModes),
  /** Ports of the guest that are reached on this machine. */
  ports: Type.Array(Type.Integer()),
  /** Command line of the kernel beside the disk; absent where the disk boots itself. */
  append: Type.Optional(Type.String()),
  hasInitrd: Type.Optional(Type.Boolean()),
  image: Type.Optional(Type.String()),
  /** Path of the disc image; it is not ours. */
  iso: Type.Optional(Type.String()),
  createdAt: Type.String(),
  /** Of a fork: whether its guest has what makes it another than its parent; absent for every other VM. */
  identity: Type.Optional(choice(['own', 'shared'])),
  /** Of a fork that has not gone on yet: the MAC address that its guest still has. */
  guestMacAddress: Type.Optional(Type.String()),
  /** The snapshot that it was last at; it may be gone, or of the VM that this is a copy of. */
  snapshot: Type.Optional(Type.String()),
  /** The folder that it is moved from, until that is gone. */
  movedFrom: Type.Optional(Type.String()),
  /** The folder that it is being moved to. */
  movingTo: Type.Optional(Type.String()),
})
export type VmSettings = Static<typeof VmSettings>

/** The settings of the VM in `folder`; undefined where there is none. Throws `vm_damaged`. */
export const readVmSettings = async (folder: string): Promise<VmSettings | undefined> => {
  const path = vmPath(folder, 'settings')
  const damaged = (why: string) =>
    new Failure(
      'vm_damaged',
      `The settings of the VM "${path}" cannot be read: ${why}. Mend the file or remove the folder.`,
      { path },
    )
  let text: string | undefined
  try {
    text = await readIfThere(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw damaged((error as Error).message)
  }
  if (text === undefined) return undefined
  let settings: unknown
  try {
    settings = JSON.parse(text)
  } catch (error) {
    throw damaged((error as Error).message)
  }
  const fault = Value.Errors(VmSettings, settings).First()
  if (fault !== undefined) throw damaged(`${fault.path || 'it'}: ${fault.message}`)
  return settings as VmSettings
}

/** Writes the settings, durably. */
export const writeVmSettings = (folder: string, settings: VmSettings): Promise<void> =>
  replaceFile(vmPath(folder, 'settings'), textOf(settings))

/** Writes the settings of a VM that is being made, whose folder is synced by whoever makes it. */
export const writeNewSettings = (folder: string, settings: VmSettings): Promise<void> =>
  writeSynced(vmPath(folder, 'settings'), textOf(settings))

const textOf = (settings: VmSettings): string => `${JSON.stringify(settings, null, 2)}\n`

/** What makes a VM itself and no copy; new for each VM and each clone. */
export const newIdentity = (): Pick<VmSettings, 'macAddress' | 'uuid' | 'generationId' | 'instanceId'> => {
  const uuid = crypto.randomUUID()
  const [a, b, c] = crypto.getRandomValues(new Uint8Array(3))
  const hex = (byte = 0) => byte.toString(16).padStart(2, '0')
  // QEMU's own prefix, locally administered.
  return {
    macAddress: `52:54:00:${hex(a)}:${hex(b)}:${hex(c)}`,
    uuid,
    generationId: crypto.randomUUID(),
    instanceId: `backlot-${uuid}`,
  }
}
