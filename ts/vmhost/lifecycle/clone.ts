/** Makes a copy of a stopped VM. */
import { constants, copyFile, link } from 'node:fs/promises'
import { join } from 'node:path'
import { mostDisksBelow } from '@backlot/contract/limits'
import { core } from '../core.ts'
import { ownDisk } from '../disks/own-disk.ts'
import { copyDisk } from '../disks/qemu-img.ts'
import { syncFile } from '../durable.ts'
import { fileFailure } from '../file-failure.ts'
import type { Handlers, Host } from '../host.ts'
import type { Work } from '../operations.ts'
import { readUserData, type Seed, writeSeed } from '../seed.ts'
import type { Storage } from '../storage.ts'
import { together } from '../together.ts'
import { vmPath } from '../vm-directory.ts'
import { newIdentity, type VmSettings, writeNewSettings } from '../vm-settings.ts'
import type { StoredVm, VmPlace } from '../vm-store.ts'
import { afresh, alone, findVm } from './find.ts'

const stopFirst = 'Stop it first to clone it.'

export const cloneVm: Handlers['cloneVm'] = async ({ name, newName, sourceLocation, destLocation }, host) => {
  const source = await findVm(host, name, sourceLocation)
  const target = destLocation === undefined ? source.storage : await host.store.target(destLocation)
  const place = { name: newName, path: join(target.path, newName), storage: target }
  await host.store.refuseTaken(place)
  host.machines.refuseRunning(source, stopFirst)
  const { id, done } = host.operations.begin('clone', place, (work) =>
    alone(host, source, async () => {
      host.machines.refuseRunning(source, stopFirst)
      const vm = await afresh(host, source)
      await copyVm(host, vm, target, newName, { ...vm.settings, ...newIdentity(), createdAt: now() }, work)
    }),
  )
  await done
  host.events.emit({ type: 'vm', name: newName, location: target.name, status: 'stopped' })
  const message = `Virtual machine cloned: ${name} to ${newName}`
  return { message, source: name, destination: newName, operationId: id }
}

const now = (): string => new Date().toISOString()

/**
 * Makes a VM of another's files, under its own settings: in the same storage over a shared base, elsewhere by a whole
 * copy, which has `diskBytes` where that is more.
 */
export const copyVm = async (
  host: Host,
  vm: StoredVm,
  target: Storage,
  newName: string,
  settings: VmSettings,
  work: Work,
  diskBytes = 0,
): Promise<VmPlace> => {
  try {
    return await host.store.make(target, newName, async (folder) => {
      const isBeside = target.path === vm.storage.path && !(await isDeep(vm))
      // What waits for the drive waits together.
      await together([
        isBeside ? layDisk(host, vm, folder) : bringDisk(vm, folder, work, diskBytes),
        bringAlong(vm.path, folder, 'kernel'),
        bringAlong(vm.path, folder, 'initrd'),
        bringSeed(vm.path, folder, { instanceId: settings.instanceId, hostName: newName }),
        writeNewSettings(folder, settings),
      ])
      work.signal.throwIfAborted()
    })
  } catch (error) {
    throw fileFailure(error, target.path)
  }
}

/** True where the disk lies on so many others that one more would be too slow. */
const isDeep = async (vm: StoredVm): Promise<boolean> =>
  (await ownDisk(vmPath(vm.path, 'disk'))).chain.length >= mostDisksBelow

/** Both VMs write to overlays of what the source's disk was. */
const layDisk = (host: Host, vm: StoredVm, folder: string): Promise<void> =>
  host.bases.exclusively(vm.storage, async () => {
    const { base, replaced } = await host.bases.freeze(vm)
    await together([replaced, host.bases.overlay(vmPath(folder, 'disk'), base)])
  })

/** The disk, and all that it lies on, as one. */
const bringDisk = async (vm: StoredVm, folder: string, work: Work, diskBytes: number): Promise<void> => {
  const [from, disk] = [vmPath(vm.path, 'disk'), vmPath(folder, 'disk')]
  work.step('copying the disk')
  const bytes = (await ownDisk(from)).disk.virtual_size
  await copyDisk({ path: from, format: 'qcow2', bytes }, { path: disk, format: 'qcow2' }, work)
  if (diskBytes > bytes) await core().resizeDisk(disk, diskBytes)
  await syncFile(disk)
}

const bringSeed = async (from: string, folder: string, about: Omit<Seed, 'userData'>): Promise<void> => {
  const userData = await readUserData(from)
  if (userData !== undefined) await writeSeed(folder, { ...about, userData })
}

/** These are never written to, and were synced when their VM was made: another name is a copy. */
const bringAlong = async (from: string, to: string, file: 'kernel' | 'initrd'): Promise<void> => {
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
