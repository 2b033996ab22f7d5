/** Copies of a VM with its memory: suspended VMs over one base and one memory file. */
import { link, stat } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { settleAll } from '@backlot/contract/work/settle-all'
import { memoryBytes } from '@backlot/native/machine'
import type { BaseDisk } from '../disks/bases.ts'
import { syncFile } from '../files/durable.ts'
import { fileFailure } from '../files/file-failure.ts'
import type { Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import { copySeed, copyStartFile } from '../lifecycle/clone.ts'
import { markDisk, type SavedState, writeSaved } from '../snapshots/saved-state.ts'
import type { KeptVm } from '../snapshots/snapshot-store.ts'
import { startFiles, vmPath } from '../vms/vm-directory.ts'
import { newIdentity, writeNewSettings } from '../vms/vm-settings.ts'
import type { StoredVm, VmPlace } from '../vms/vm-store.ts'

/** Part of the memory that is free which forks may take at most: the rest is for what they write. */
const mostOfFree = 0.8
/** What a fork takes beside the memory that all share: the part of that which it soon writes to, and its hypervisor. */
const ofEach = { part: 0.25, bytes: 32 * 2 ** 20 } as const

/**
 * Whether there is room to make forks share one memory, of which all is touched once while it is made; where there is not,
 * each reads its own copy. Throws `host_memory` where so many would not have room for that either.
 */
export const hasRoomToShare = async (
  { images }: Pick<Host, 'images'>,
  vm: StoredVm,
  count: number,
  memory = vmPath(vm.path, 'memory'),
): Promise<boolean> => {
  const { size: whole } = await stat(memory)
  const ofForks = count * (whole * ofEach.part + ofEach.bytes)
  const needed = async () => ((await images.has(vm)) ? ofForks : whole + ofForks)
  if ((await needed()) < freeMemory()) return true
  images.drop()
  const free = freeMemory()
  if ((await needed()) < free) return true
  if (count * whole < free) return false
  const mebibytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`
  throw new Failure(
    'host_memory',
    `${count} forks of "${vm.name}" take ${mebibytes(count * whole)} of memory at once, and this machine has ${mebibytes(free)} for them. Make fewer, or end something else.`,
    { name: vm.name },
  )
}

/** Bytes of this machine's memory that forks may take. */
const freeMemory = (): number => memoryBytes('MemAvailable') * mostOfFree

/** What becomes of a memory that cannot be laid out for all: each reads its own copy, and the operation says why. */
export const ownCopies =
  ({ message }: Pick<Task, 'message'>) =>
  (error: unknown): undefined => {
    if (Failure.from(error).code !== 'memory_unreadable') throw error
    message((error as Error).message)
  }

/** The forks that somebody wants. */
export interface ForkOptions {
  readonly names: readonly string[]
  /** The user data of a fork, given that of its parent; the same where absent. */
  readonly userDataOf?: (userData: string, name: string) => string
  /** What a snapshot of the VM keeps, from which they go on; from the VM as it is where absent. */
  readonly kept?: KeptVm
}

/** Makes a suspended VM for each name of one that is suspended or kept, with that memory; where one cannot be made there is none. */
export const makeForks = async (
  host: Host,
  vm: StoredVm,
  saved: SavedState,
  { names, userDataOf, kept }: ForkOptions,
  signal: AbortSignal,
): Promise<VmPlace[]> => {
  const made = new Map<string, VmPlace>()
  const make = async () => {
    const { base, replaced } = kept === undefined ? await host.bases.freeze(vm) : { ...kept, replaced: undefined }
    const lay = async (name: string) => {
      signal.throwIfAborted()
      const fill = async (folder: string) => {
        await fillFork(host, vm, saved, folder, base, { name, userDataOf, kept })
        // A fork that had its name before would, after a crash, lie on a base that the VM still writes to.
        await replaced
      }
      made.set(name, await host.store.make(vm.storage, name, fill))
    }
    // What waits for the drive waits together.
    await settleAll([...(replaced === undefined ? [] : [replaced]), ...names.map(lay)])
  }
  try {
    await host.bases.exclusively(vm.storage, make, { signal })
    return names.flatMap((name) => made.get(name) ?? [])
  } catch (error) {
    for (const place of made.values()) await host.store.remove(place).catch(() => undefined)
    throw fileFailure(error, vm.storage.path)
  }
}

/** Puts the files of a fork into its folder, the record of its memory last. */
const fillFork = async (
  host: Host,
  vm: StoredVm,
  saved: SavedState,
  folder: string,
  base: BaseDisk,
  {
    name,
    userDataOf,
    kept,
  }: { readonly name: string } & { readonly [key in 'userDataOf' | 'kept']: ForkOptions[key] | undefined },
): Promise<void> => {
  const { folder: from, settings: then } = kept ?? { folder: vm.path, settings: vm.settings }
  const settings = {
    ...then,
    ...newIdentity(),
    createdAt: new Date().toISOString(),
    identity: 'shared' as const,
    guestMacAddress: then.guestMacAddress ?? then.macAddress,
  }
  const disk = vmPath(folder, 'disk')
  await host.bases.overlay(disk, base)
  await settleAll([
    syncFile(disk).then(() => markDisk(disk, saved)),
    ...startFiles.map((file) => copyStartFile(vm.path, folder, file)),
    copySeed(vm.path, folder, { instanceId: settings.instanceId, hostName: name }, (text) =>
      userDataOf === undefined ? text : userDataOf(text, name),
    ),
    // It is never written to again: another name is a copy.
    link(vmPath(from, 'memory'), vmPath(folder, 'memory')),
    writeNewSettings(folder, settings),
  ])
  await writeSaved(folder, saved)
}
