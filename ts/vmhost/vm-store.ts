/** The VMs on disk: found by looking, made and removed whole. */
import { lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { vmName } from '@backlot/contract/vmhost/vm'
import { Value } from '@sinclair/typebox/value'
import { makeFolder, syncFolder } from './durable.ts'
import type { SettingsFile } from './settings.ts'
import { defaultStorage, type Storage, searched, storageOf } from './storage.ts'
import {
  basesFolder,
  gonePrefix,
  isUnfinished,
  newPrefix,
  seedFiles,
  seedFolder,
  vmFiles,
  vmPath,
} from './vm-directory.ts'
import { readVmSettings, type VmSettings } from './vm-settings.ts'

/** Where a VM is. */
export interface VmPlace {
  readonly name: string
  /** Its folder. */
  readonly path: string
  readonly storage: Storage
}

/** A VM on disk. */
export interface StoredVm extends VmPlace {
  readonly settings: VmSettings
}

/** A VM on disk whose settings cannot be read. */
export interface DamagedVm extends VmPlace {
  readonly damage: Failure
}

/** The VMs of a host. */
export class VmStore {
  constructor(
    readonly settings: SettingsFile,
    readonly data: string,
    /** Takes a lock on a file, or gives undefined where a living process holds it. */
    readonly lock: (path: string) => { release(): void } | undefined,
    readonly report: (failure: Failure) => void,
  ) {}

  /** The storages that a request looks in: the one it names, or every location. */
  async storages(value: string | undefined): Promise<Storage[]> {
    const settings = await this.settings.read()
    return value === undefined ? searched(settings) : [storageOf(settings, this.data, value)]
  }

  /** The storage that a request puts a VM in. */
  async target(value: string | undefined): Promise<Storage> {
    const settings = await this.settings.read()
    return value === undefined ? defaultStorage(settings) : storageOf(settings, this.data, value)
  }

  /** The VM of that name; throws `vm_not_found` and `vm_damaged`. */
  async find(name: string, storage: string | undefined): Promise<StoredVm> {
    const found = await this.look(name, storage)
    if (found === undefined) throw vmNotFound(name)
    if (isDamaged(found)) throw found.damage
    return found
  }

  /** The VM of that name, whether it can be read or not; undefined where there is none. */
  async look(name: string, storage: string | undefined): Promise<StoredVm | DamagedVm | undefined> {
    for (const each of await this.storages(storage)) {
      const found = await this.#look(placeOf(each, name))
      if (found !== undefined) return found
    }
    return undefined
  }

  async #look(place: VmPlace): Promise<StoredVm | DamagedVm | undefined> {
    try {
      const settings = await readVmSettings(place.path)
      return settings && { ...place, settings }
    } catch (error) {
      return { ...place, damage: Failure.from(error) }
    }
  }

  /** The VM as it is now; throws `vm_not_found` and `vm_damaged`. */
  async reread({ name, path, storage }: VmPlace): Promise<StoredVm> {
    const settings = await readVmSettings(path)
    if (settings === undefined) throw vmNotFound(name)
    return { name, path, storage, settings }
  }

  /** The VM in that folder, wherever it is; undefined where there is none. */
  async at(path: string): Promise<StoredVm | undefined> {
    const [name, folder] = [basename(path), dirname(path)]
    const settings = await readVmSettings(path)
    return settings && { name, path, storage: { name: folder, path: folder }, settings }
  }

  /** The VMs of the storages that can be read. */
  async list(storages: readonly Storage[]): Promise<StoredVm[]> {
    return (await this.listAll(storages)).filter((vm): vm is StoredVm => !isDamaged(vm))
  }

  /** Every VM of the storages; a damaged one is reported. A folder that is called as no VM may be is none. */
  async listAll(storages: readonly Storage[]): Promise<(StoredVm | DamagedVm)[]> {
    const found = await Promise.all(storages.map((storage) => this.#listOne(storage)))
    return found.flat()
  }

  async #listOne(storage: Storage): Promise<(StoredVm | DamagedVm)[]> {
    const names = (await entriesOf(storage.path)).filter((name) => Value.Check(vmName, name)).sort()
    const vms = await Promise.all(names.map((name) => this.#look(placeOf(storage, name))))
    return vms.flatMap((vm) => {
      if (vm === undefined) return []
      if (isDamaged(vm)) this.report(vm.damage)
      return [vm]
    })
  }

  /**
   * Makes a VM: `fill` puts its files, the settings among them, into a hidden folder, which gets the VM's name when it
   * is whole. A failure leaves nothing. Throws `vm_exists`.
   */
  async make(storage: Storage, name: string, fill: (folder: string) => Promise<void>): Promise<VmPlace> {
    const place = placeOf(storage, name)
    await this.refuseTaken(place)
    await makeFolder(storage.path)
    const folder = join(storage.path, `${newPrefix}${crypto.randomUUID()}`)
    await mkdir(folder, { mode: 0o700 })
    const lock = this.lock(vmPath(folder, 'making'))
    try {
      await fill(folder)
      await syncFolder(folder)
      await this.refuseTaken(place)
      await rename(folder, place.path).catch((error) => this.#refuseMade(place, error))
      await syncFolder(storage.path)
      await rm(vmPath(place.path, 'making'), { force: true })
    } catch (error) {
      await removeKnownFiles(folder)
      throw error
    } finally {
      lock?.release()
    }
    return place
  }

  /** Another may have got the name in the last moment. */
  async #refuseMade(place: VmPlace, error: unknown): Promise<never> {
    await this.refuseTaken(place)
    throw error
  }

  /** Throws `vm_exists` where something has the VM's place. */
  async refuseTaken({ name, path, storage }: VmPlace): Promise<void> {
    const isTaken = await lstat(path).then(
      () => true,
      () => false,
    )
    if (!isTaken) return
    throw new Failure(
      'vm_exists',
      `Virtual machine already exists: "${name}" in "${storage.name}". Choose another name, or delete that one.`,
      { name, path },
    )
  }

  /**
   * Removes a VM: at once it is none any more, and its name is free. Gives the folder that what is not ours was left in;
   * undefined where nothing was.
   */
  async remove(place: VmPlace): Promise<string | undefined> {
    const hidden = join(place.storage.path, `${gonePrefix}${crypto.randomUUID()}.${place.name}`)
    await rename(place.path, hidden)
    await syncFolder(place.storage.path)
    return finishRemoval(place.storage.path, hidden, place.name)
  }

  /** Whether a service that died may have left something half made, bases without a VM among it. */
  async hasRemains(storages: readonly Storage[]): Promise<boolean> {
    const entries = await Promise.all(storages.map(({ path }) => entriesOf(path)))
    const isRemains = (name: string) => [newPrefix, gonePrefix, basesFolder].some((start) => name.startsWith(start))
    if (entries.flat().some(isRemains)) return true
    const files = await Promise.all((await this.list(storages)).map(({ path }) => entriesOf(path)))
    return files.flat().some(isUnfinished)
  }

  /** Removes what a service that died was making or removing. */
  async sweep(storages: readonly Storage[]): Promise<void> {
    for (const { path } of storages) {
      for (const entry of await entriesOf(path)) {
        const folder = join(path, entry)
        if (entry.startsWith(newPrefix)) await this.#sweepNew(folder)
        if (entry.startsWith(gonePrefix)) {
          await finishRemoval(path, folder, entry.slice(gonePrefix.length + uuidLength + 1))
        }
      }
    }
    for (const { path } of await this.list(storages)) await removeUnfinished(path)
  }

  async #sweepNew(folder: string): Promise<void> {
    // Another service may keep VMs here too, and be at work on this one.
    const lock = this.lock(vmPath(folder, 'making'))
    if (lock === undefined) return
    lock.release()
    await removeKnownFiles(folder)
  }
}

/** That no VM has this name, in exactly the words that clients look for; `detail` stands beside them. */
export const vmNotFound = (name: string, detail?: string): Failure =>
  new Failure('vm_not_found', `Virtual machine not found: ${name}`, { name, ...(detail !== undefined && { detail }) })

/** Whether the VM is one whose settings cannot be read. */
export const isDamaged = (vm: StoredVm | DamagedVm): vm is DamagedVm => 'damage' in vm

const uuidLength = 36

/** Where a VM of that name is in a storage, or would be. */
export const placeOf = (storage: Storage, name: string): VmPlace => ({ name, path: join(storage.path, name), storage })

/** What is in a folder, nothing where it is none; throws `storage_unreadable`. */
export const entriesOf = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw new Failure(
      'storage_unreadable',
      `The folder "${folder}" cannot be read: ${(error as Error).message}. Make it readable, or remove its location.`,
      { path: folder },
    )
  }
}

/** Removes the files of a VM, and the folder if nothing else is in it; says whether it is gone. */
const removeKnownFiles = async (folder: string): Promise<boolean> => {
  for (const file of Object.values(vmFiles)) await rm(join(folder, file), { recursive: true, force: true })
  for (const file of seedFiles) await rm(join(folder, seedFolder, file), { force: true })
  await rmdir(join(folder, seedFolder)).catch(() => undefined)
  await removeUnfinished(folder)
  return rmdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )
}

const removeUnfinished = async (folder: string): Promise<void> => {
  for (const entry of (await entriesOf(folder)).filter(isUnfinished)) await rm(join(folder, entry), { force: true })
}

const finishRemoval = async (location: string, hidden: string, name: string): Promise<string | undefined> => {
  const kept = (await removeKnownFiles(hidden)) ? undefined : await moveAside(hidden, join(location, name))
  await syncFolder(location)
  return kept
}

/** Moves a folder that is no VM any more to a name that people see and no new VM of its old name wants. */
const moveAside = async (folder: string, path: string): Promise<string> => {
  for (let count = 1; ; count++) {
    const aside = `${path}.left${count === 1 ? '' : `-${count}`}`
    try {
      await mkdir(aside)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw error
    }
    // In the place of an empty one, so that nobody else's is replaced.
    await rename(folder, aside)
    return aside
  }
}
