/** Makes a copy of a stopped VM. */
import { constants, copyFile, link } from 'node:fs/promises'
import { join } from 'node:path'
import { mostDisksBelow } from '@backlot/contract/limits'
import { settleAll } from '@backlot/contract/work/settle-all'
import { core } from '../core.ts'
import { refuseOpen } from '../disks/disk-in-use.ts'
import { ownDisk } from '../disks/own-disk.ts'
import { copyDisk } from '../disks/qemu-img.ts'
import { syncFile } from '../files/durable.ts'
import { fileFailure } from '../files/file-failure.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import type { Storage } from '../storage/storage.ts'
import { type CloudInitSeed, readUserData, writeSeed } from '../vms/seed.ts'
import { startFiles, vmPath } from '../vms/vm-directory.ts'
import { newIdentity, type VmSettings, writeNewSettings } from '../vms/vm-settings.ts'
import type { StoredVm, VmPlace } from '../vms/vm-store.ts'
import { exclusively, findVm, reread } from './find.ts'

const stopFirst = 'Stop it first to clone it.'
const resumeFirst = 'Resume and stop it first to clone it.'

export const cloneVm: Handlers['cloneVm'] = async ({ name, newName, sourceLocation, destLocation }, host) => {
  const source = await findVm(host, name, sourceLocation)
  const target = destLocation === undefined ? source.storage : await host.store.target(destLocation)
  const place = { name: newName, path: join(target.path, newName), storage: target }
  await host.store.refuseTaken(place)
  host.machines.refuseRunning(source, stopFirst)
  host.machines.refuseSuspended(source, resumeFirst)
  const { id, done } = host.operations.begin('clone', place, (work) => {
    const clone = async () => {
      host.machines.refuseRunning(source, stopFirst)
      host.machines.refuseSuspended(source, resumeFirst)
      const vm = await reread(host, source)
      await copyVm(host, vm, target, newName, { ...vm.settings, ...newIdentity(), createdAt: now() }, work)
    }
    return exclusively(host, source, clone, work.signal)
  })
  await done
  host.events.emit({ type: 'vm', name: newName, location: target.name, status: 'stopped' })
  const message = `Virtual machine cloned: ${name} to ${newName}`
  return { message, source: name, destination: newName, operationId: id }
}

const now = (): string => new Date().toISOString()

/**
 * Makes a VM of another's files, under its own settings: in the same storage over a shared base, elsewhere by a whole
 * copy, which has `diskBytes` where that is more. `settle` does what is left while nobody else can work on it.
 */
export const copyVm = async (
  host: Host,
  vm: StoredVm,
  target: Storage,
  newName: string,
  settings: VmSettings,
  work: Task,
  more: { readonly diskBytes?: number; readonly settle?: (place: VmPlace) => Promise<void> } = {},
): Promise<VmPlace> => {
  const { diskBytes = 0, settle } = more
  const fill = async (folder: string) => {
    const isBeside = target.path === vm.storage.path && !(await isDeep(vm))
    // What waits for the drive waits together.
    await settleAll([
      isBeside ? layDisk(host, vm, folder, work) : bringDisk(vm, folder, work, diskBytes),
      ...startFiles.map((file) => copyStartFile(vm.path, folder, file)),
      copySeed(vm.path, folder, { instanceId: settings.instanceId, hostName: newName }),
      writeNewSettings(folder, settings),
    ])
    work.signal.throwIfAborted()
  }
  try {
    return await host.store.make(target, newName, fill, settle)
  } catch (error) {
    throw fileFailure(error, target.path)
  }
}

/** True where the disk lies on so many others that one more would be too slow. */
const isDeep = async (vm: StoredVm): Promise<boolean> =>
  (await ownDisk(vmPath(vm.path, 'disk'))).chain.length >= mostDisksBelow

/** Both VMs write to overlays of what the source's disk was. */
const layDisk = (host: Host, vm: StoredVm, folder: string, { signal }: Task): Promise<void> => {
  const lay = async () => {
    const { base, replaced } = await host.bases.freeze(vm)
    await settleAll([replaced, host.bases.overlay(vmPath(folder, 'disk'), base)])
  }
  return host.bases.exclusively(vm.storage, lay, { signal })
}

/** The disk, and all that it lies on, as one. */
const bringDisk = async (vm: StoredVm, folder: string, work: Task, diskBytes: number): Promise<void> => {
  const [from, disk] = [vmPath(vm.path, 'disk'), vmPath(folder, 'disk')]
  work.step('copying the disk')
  await refuseOpen(from)
  const bytes = (await ownDisk(from)).disk.virtual_size
  await copyDisk({ path: from, format: 'qcow2', bytes }, { path: disk, format: 'qcow2' }, work)
  // Who has opened it meanwhile may write what the copy does not have.
  await refuseOpen(from)
  if (diskBytes > bytes) await core().resizeDisk(disk, diskBytes)
  await syncFile(disk)
}

/** Gives a VM the seed of another, under its own name and instance, its user data changed; nothing where that has none. */
export const copySeed = async (
  from: string,
  folder: string,
  about: Omit<CloudInitSeed, 'userData'>,
  changed = (userData: string): string => userData,
): Promise<void> => {
  const userData = await readUserData(from)
  if (userData !== undefined) await writeSeed(folder, { ...about, userData: changed(userData) })
}

/** These are never written to, and were synced when their VM was made: another name is a copy. */
export const copyStartFile = async (from: string, to: string, file: (typeof startFiles)[number]): Promise<void> => {
  try {
    await link(vmPath(from, file), vmPath(to, file)).catch(async (error) => {
      if (error.code === 'ENOENT') throw error
      await copyFile(vmPath(from, file), vmPath(to, file), constants.COPYFILE_FICLONE)
      await syncFile(vmPath(to, file))
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
