/** The VMs on disk: found by looking, made and removed whole. */
import { type Dirent, existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readlink, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { vmName } from '@backlot/contract/vmhost/vm'
import { Value } from '@sinclair/typebox/value'
import { makeFolder, syncFolder } from '../files/durable.ts'
import type { FileLocks } from '../files/file-locks.ts'
import type { SettingsFile } from '../host/settings.ts'
import { defaultStorage, type Storage, searched, storageOf } from '../storage/storage.ts'
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
    readonly locks: FileLocks,
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
    if (found === undefined) throw vmNotFound(name, await this.#otherName(name, storage))
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

  /** What a symbolic link of that name leads to, in words; undefined where there is none. */
  async #otherName(name: string, storage: string | undefined): Promise<string | undefined> {
    for (const { path } of await this.storages(storage)) {
      const reason = await linkAt(join(path, name))
      if (reason !== undefined) return reason
    }
    return undefined
  }

  /** Whoever misses a VM that is reached by a link finds the reason in the log. */
  async #reportLink(storage: Storage, name: string): Promise<void> {
    const { path } = placeOf(storage, name)
    const reason = existsSync(vmPath(path, 'settings')) ? await linkAt(path) : undefined
    if (reason !== undefined) this.report(new Failure('vm_not_found', reason, { path }))
  }

  /** A VM is known by the folder that it is in, and by no other name: a symbolic link to one is none. */
  async #look(place: VmPlace): Promise<StoredVm | DamagedVm | undefined> {
    return (await isLink(place.path)) ? undefined : this.#read(place)
  }

  async #read(place: VmPlace): Promise<StoredVm | DamagedVm | undefined> {
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
    const entries = (await direntsOf(storage.path)).filter(({ name }) => Value.Check(vmName, name))
    for (const { name } of entries.filter((entry) => entry.isSymbolicLink())) await this.#reportLink(storage, name)
    const names = entries.filter((entry) => !entry.isSymbolicLink()).map(({ name }) => name)
    const vms = await Promise.all(names.sort().map((name) => this.#read(placeOf(storage, name))))
    return vms.flatMap((vm) => {
      if (vm === undefined) return []
      if (isDamaged(vm)) this.report(vm.damage)
      return [vm]
    })
  }

  /**
   * Makes a VM: `fill` puts its files, the settings among them, into a hidden folder, which gets the VM's name when it
   * is whole; `settle` does what is left while nobody else can work on it. A failure before that leaves nothing. Throws
   * `vm_exists`.
   */
  async make(
    storage: Storage,
    name: string,
    fill: (folder: string) => Promise<void>,
    settle?: (place: VmPlace) => Promise<void>,
  ): Promise<VmPlace> {
    const place = placeOf(storage, name)
    await this.refuseTaken(place)
    await makeFolder(storage.path)
    const { folder, lock } = await this.#newFolder(storage)
    using _ = lock
    try {
      await fill(folder)
      await syncFolder(folder)
      await this.refuseTaken(place)
      await rename(folder, place.path).catch((error) => this.#refuseMade(place, error))
      this.locks.moved(vmPath(folder, 'work'), vmPath(place.path, 'work'))
      await syncFolder(storage.path)
    } catch (error) {
      await removeKnownFiles(folder)
      throw error
    }
    await settle?.(place)
    return place
  }

  /** A hidden folder whose lock this service holds. */
  async #newFolder(storage: Storage): Promise<{ folder: string; lock: Disposable }> {
    for (;;) {
      const folder = join(storage.path, `${newPrefix}${crypto.randomUUID()}`)
      await mkdir(folder, { mode: 0o700 })
      try {
        const lock = this.locks.tryTake(vmPath(folder, 'work'))
        // Otherwise another service has taken it for something left, and removes it.
        if (lock !== undefined) return { folder, lock }
      } catch (error) {
        if (!existsSync(folder)) continue
        await rmdir(folder)
        throw error
      }
    }
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

  /** Gives a VM another name in its storage; whoever calls holds its lock. Throws `vm_exists`. */
  async rename(vm: VmPlace, name: string): Promise<StoredVm> {
    const place = placeOf(vm.storage, name)
    await this.refuseTaken(place)
    await rename(vm.path, place.path).catch((error) => this.#refuseMade(place, error))
    this.locks.moved(vmPath(vm.path, 'work'), vmPath(place.path, 'work'))
    await syncFolder(vm.storage.path)
    return this.reread(place)
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
    return files.flat().some((file) => isUnfinished(file) || file === vmFiles.work)
  }

  /** Removes what a service that died was making, changing or removing, and nothing that a living one is at work on. */
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
    for (const vm of await this.list(storages)) {
      const files = await entriesOf(vm.path)
      if (!files.some((file) => isUnfinished(file) || file === vmFiles.work)) continue
      using lock = this.locks.tryTake(vmPath(vm.path, 'work'))
      if (lock !== undefined) await removeUnfinished(vm.path)
    }
  }

  async #sweepNew(folder: string): Promise<void> {
    // Its maker finds it gone, or this lock on it, and begins another.
    using lock = existsSync(folder) ? this.locks.tryTake(vmPath(folder, 'work')) : undefined
    if (lock !== undefined) await removeKnownFiles(folder)
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
export const entriesOf = async (folder: string): Promise<string[]> => (await direntsOf(folder)).map(({ name }) => name)

const direntsOf = async (folder: string): Promise<Dirent[]> => {
  try {
    return await readdir(folder, { withFileTypes: true })
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
  for (const [kind, file] of Object.entries(vmFiles)) {
    if (kind !== 'work') await rm(join(folder, file), { recursive: true, force: true })
  }
  for (const file of seedFiles) await rm(join(folder, seedFolder, file), { force: true })
  await rmdir(join(folder, seedFolder)).catch(() => undefined)
  await removeUnfinished(folder)
  // Until here others see that somebody is at work.
  await rm(vmPath(folder, 'work'), { force: true })
  return rmdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )
}

/** Where a symbolic link leads, in words; undefined where there is none. */
const linkAt = async (path: string): Promise<string | undefined> => {
  const target = await readlink(path).catch(() => undefined)
  const next = 'There the VM has its name; make the folder that it is in a location to list it.'
  return target === undefined ? undefined : `"${path}" is a symbolic link to "${target}" and names no VM. ${next}`
}

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )

const removeUnfinished = async (folder: string): Promise<void> => {
  for (const entry of (await entriesOf(folder)).filter(isUnfinished)) await rm(join(folder, entry), { force: true })
}

const finishRemoval = async (location: string, hidden: string, name: string): Promise<string | undefined> => {
  const kept = (await removeKnownFiles(hidden)) ? undefined : await moveAside(hidden, join(location, name))
  await syncFolder(location)
  return kept
}

/** Moves a folder that is no VM any more to a name that people see and no new VM of its old name wants. */
const moveAside = async (folder: string, path: string): Promise<string | undefined> => {
  for (let count = 1; ; count++) {
    const aside = `${path}.left${count === 1 ? '' : `-${count}`}`
    try {
      await mkdir(aside)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw error
    }
    // In the place of an empty one, so that nobody else's is replaced.
    const isMoved = await rename(folder, aside).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        return false
      },
    )
    if (isMoved) return aside
    // Another service has come to an end with it.
    await rmdir(aside)
    return undefined
  }
}
