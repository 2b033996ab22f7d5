/** Bases: disks that never change, in a hidden folder of each location; VMs there write to overlays of them. */
import { existsSync } from 'node:fs'
import {
  constants,
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
} from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { settleAll } from '@backlot/contract/work/settle-all'
import { core } from '../core.ts'
import { syncFile, syncFolder } from '../files/durable.ts'
import { noRoom } from '../files/file-failure.ts'
import type { FileLocks, LockOptions } from '../files/file-locks.ts'
import type { KeyedLock } from '../host/keyed-lock.ts'
import type { Storage } from '../storage/storage.ts'
import { basesFolder, basesLock, vmFiles, vmPath } from '../vms/vm-directory.ts'
import { entriesOf, type VmPlace } from '../vms/vm-store.ts'
import { refuseOpen } from './disk-in-use.ts'
import { ownDisk } from './own-disk.ts'
import { type CopyProgress, copyDisk } from './qemu-img.ts'

type Format = 'qcow2' | 'raw'

/** A base, by its name in the folder. */
export interface BaseDisk {
  readonly file: string
  readonly format: Format
}

/** Milliseconds for which collecting waits until other services are done with the bases. */
const collectsWithinMs = 5_000

/** The bases of a host. */
export class Bases {
  constructor(
    readonly turns: KeyedLock,
    readonly locks: FileLocks,
  ) {}

  /** Does work on a location's bases while nobody else does, in this service and in others. */
  exclusively<T>(storage: Storage, work: () => Promise<T>, waiting: LockOptions = {}): Promise<T> {
    const locked = async () => {
      using _lock = await this.locks.take(join(storage.path, basesLock), waiting)
      return await work()
    }
    return this.turns.take(join(storage.path, basesFolder), locked, { signal: waiting.signal })
  }

  /** Makes a disk of a VM that shows `base` until it is written to; who makes it syncs its folder. */
  overlay(path: string, base: BaseDisk, bytes?: number, up = '../'): Promise<void> {
    return core().createOverlay(path, {
      backing: `${up}${basesFolder}/${base.file}`,
      backing_format: base.format,
      sync_folder: false,
      ...(bytes !== undefined && { size_bytes: bytes }),
    })
  }

  /**
   * Makes the file a base of the location without copying it where the file system can; the same file is the same base.
   * It must never be written to any more. Throws `disk_full`.
   */
  async adopt(storage: Storage, name: string, path: string, format: Format, work: CopyProgress): Promise<BaseDisk> {
    const { dev, ino, size, mtimeMs } = await stat(path)
    const hash = Bun.hash(`${dev}/${ino}/${size}/${mtimeMs}`).toString(36)
    const base = { file: `${name}-${hash}.${format}`, format }
    const folder = await this.#folder(storage)
    if (existsSync(join(folder, base.file))) return base
    const next = join(folder, `.${crypto.randomUUID()}.tmp`)
    try {
      await link(path, next)
        .catch(() => copyFile(path, next, constants.COPYFILE_FICLONE_FORCE))
        .catch(() => copyDisk({ path, format, bytes: size }, { path: next, format }, work))
      await syncFile(next)
      await rename(next, join(folder, base.file))
    } catch (error) {
      await rm(next, { force: true })
      throw noRoom(error, folder)
    }
    await syncFolder(folder)
    return base
  }

  /**
   * Turns the disk of a stopped VM into a base and puts an empty overlay into its place; at every moment the VM has one of
   * the two. Nothing is copied. A disk that is such an overlay already leads to the base that it lies on. The base can be
   * built upon at once; `replaced` settles when both would survive a power cut, and before that no VM on the base may get
   * its name. Throws `disk_in_use`, also by `replaced`.
   */
  async freeze(vm: VmPlace): Promise<{ base: BaseDisk; replaced: Promise<void> }> {
    const disk = vmPath(vm.path, 'disk')
    await refuseOpen(disk)
    const below = await untouched(disk)
    if (below !== undefined) return { base: below, replaced: Promise.resolve() }
    const folder = await this.#folder(vm.storage)
    const base = { file: `${crypto.randomUUID()}.qcow2`, format: 'qcow2' as const }
    const next = vmPath(vm.path, 'nextDisk')
    await settleAll([link(disk, join(folder, base.file)), rm(next, { force: true })])
    const replace = async () => {
      const { atimeMs, mtimeMs } = await stat(disk)
      // The folder of bases may be new.
      await settleAll([syncFolder(folder), syncFolder(vm.storage.path), this.overlay(next, base)])
      // What was saved with the disk goes on with the overlay.
      await utimes(next, atimeMs / 1000, mtimeMs / 1000)
      await syncFile(next)
      await rename(next, disk)
      try {
        await refuseOpen(join(folder, base.file))
      } catch (error) {
        // Who opened the disk in the last moment would write to a base: it is the disk again.
        await rename(join(folder, base.file), disk)
        throw error
      } finally {
        await syncFolder(vm.path)
      }
    }
    return { base, replaced: replace() }
  }

  /**
   * Removes the bases of the location on which no disk lies any more, and their folder where it is empty then. Where a
   * disk or the location cannot be read, all stay, and it throws why.
   */
  async collect(storage: Storage): Promise<void> {
    const folder = join(storage.path, basesFolder)
    if (!existsSync(folder) && !existsSync(join(storage.path, basesLock))) return
    const collect = async () => {
      if (!existsSync(folder)) return
      const files = await readdir(folder)
      const used = new Set<string>()
      for (const path of files.length === 0 ? [] : await disksIn(storage)) {
        try {
          const { chain } = await ownDisk(path)
          for (const { path } of chain) used.add(await fileId(path))
        } catch (error) {
          if (await isThere(path)) throw error
        }
      }
      for (const file of files) {
        const path = join(folder, file)
        if (!used.has(await fileId(path))) await rm(path, { force: true })
      }
      await syncFolder(folder)
      await rmdir(folder).catch(() => undefined)
    }
    const whileHeld = (isLate: boolean) => {
      if (!isLate) return
      const why = `Another service works on the bases in "${folder}"; what nobody needs of them is removed another time.`
      throw new Failure('vm_busy', why, { path: folder })
    }
    await this.exclusively(storage, collect, { patienceMs: collectsWithinMs, whileHeld })
  }

  async #folder(storage: Storage): Promise<string> {
    const folder = join(storage.path, basesFolder)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return folder
  }
}

/** An overlay without data takes four clusters at most, and mostly less. */
const emptyOverlayBytes = 4 * 64 * 1024

/** The base that an overlay of its size shows as that is; zeros that take no room in the overlay are content too. */
const untouched = async (disk: string): Promise<BaseDisk | undefined> => {
  const [{ disk: top, chain }, { blocks }] = await Promise.all([core().diskInfo(disk), stat(disk)])
  const { backing } = top
  const start = `../${basesFolder}/`
  if (!backing?.name.startsWith(start) || blocks * 512 > emptyOverlayBytes) return undefined
  if (chain[0]?.virtual_size !== top.virtual_size) return undefined
  if ((await core().checkDisk(disk)).own_clusters > 0) return undefined
  return { file: backing.name.slice(start.length), format: backing.format }
}

/** The first disk of the `others` that lies on a file of the location; undefined where none does. */
export const dependent = async ({ path }: Storage, others: readonly Storage[]): Promise<string | undefined> => {
  const below = `${await realpath(path).catch(() => path)}/`
  for (const other of others) {
    for (const disk of await disksIn(other).catch(() => [])) {
      const chain = await core()
        .diskInfo(disk)
        .then(
          (info) => info.chain,
          () => [],
        )
      for (const layer of chain) {
        if (`${await realpath(layer.path).catch(() => layer.path)}`.startsWith(below)) return disk
      }
    }
  }
  return undefined
}

/** The disks of a location, those of VMs that are being made or removed among them; throws `storage_unreadable`. */
export const disksIn = async ({ path }: Storage): Promise<string[]> => {
  const names = (await entriesOf(path)).filter((name) => name !== basesFolder)
  const disks = names.flatMap((name) => [join(path, name, vmFiles.disk), join(path, name, vmFiles.nextDisk)])
  const there = await Promise.all(disks.map(isThere))
  const ofSnapshots = await Promise.all(names.map((name) => snapshotDisks(join(path, name))))
  return [...disks.filter((_, index) => there[index]), ...ofSnapshots.flat()]
}

/** The disks of a VM's snapshots, those that are being made or removed among them; throws `storage_unreadable`. */
const snapshotDisks = async (folder: string): Promise<string[]> => {
  const snapshots = join(folder, vmFiles.snapshots)
  const disks = (await entriesOf(snapshots)).map((name) => join(snapshots, name, vmFiles.disk))
  const there = await Promise.all(disks.map(isThere))
  return disks.filter((_, index) => there[index])
}

/** Whether there may be something: a link that leads nowhere, for its drive may come back, and what cannot be looked at. */
const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT' && code !== 'ENOTDIR',
  )

/** What a file is, by whatever name. */
const fileId = async (path: string): Promise<string> => {
  const { dev, ino } = await stat(path)
  return `${dev}/${ino}`
}
