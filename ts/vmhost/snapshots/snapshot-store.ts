/** The snapshots of a VM on disk: a folder each, made and removed whole. */
import { existsSync } from 'node:fs'
import { link, mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { Snapshot } from '@backlot/contract/vmhost/snapshot'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { core } from '../core.ts'
import type { BaseDisk, Bases } from '../disks/bases.ts'
import { readIfThere, syncFile, syncFolder, writeSynced } from '../files/durable.ts'
import { gonePrefix, newPrefix, vmPath } from '../vms/vm-directory.ts'
import { VmSettings, writeVmSettings } from '../vms/vm-settings.ts'
import { entriesOf, type StoredVm, type VmPlace } from '../vms/vm-store.ts'
import { markDisk, readSaved, removeSavedMemory, SavedState, writeSaved } from './saved-state.ts'

/** What a snapshot holds beside disk and memory. */
const Record = Type.Object({
  createdAt: Type.String(),
  settings: VmSettings,
  saved: Type.Union([SavedState, Type.Null()]),
})

const recordFile = 'snapshot.json'
/** From a snapshot's folder to the location. */
const toLocation = '../../../'

const folderOf = (vm: VmPlace, name: string): string => join(vmPath(vm.path, 'snapshots'), name)

const isWhole = (entry: string): boolean => !entry.startsWith('.')

/** The snapshots of a VM, the oldest first; one that cannot be read is left out and reported by who asks for it. */
export const snapshotsOf = async (vm: VmPlace): Promise<Snapshot[]> => {
  const names = (await entriesOf(vmPath(vm.path, 'snapshots'))).filter(isWhole)
  const found = await Promise.all(names.map((name) => snapshotOf(vm, name)))
  return found.sort((one, other) => one.createdAt.localeCompare(other.createdAt))
}

/** A snapshot as it is shown; throws `snapshot_not_found` and `vm_damaged`. */
export const snapshotOf = async (vm: VmPlace, name: string): Promise<Snapshot> => {
  const { createdAt, saved, settings } = await readRecord(vm, name)
  const memoryBytes = saved === null ? 0 : (await stat(vmPath(folderOf(vm, name), 'memory'))).size
  const follows = await before(vm, settings.snapshot, createdAt)
  return { name, createdAt, hasMemory: saved !== null, memoryBytes, follows }
}

/** The snapshot of that name, if the VM has it and it is older. */
const before = async (vm: VmPlace, name: string | undefined, createdAt: string): Promise<string | null> => {
  if (name === undefined) return null
  const found = await readRecord(vm, name).catch(() => undefined)
  return found !== undefined && found.createdAt < createdAt ? name : null
}

const readRecord = async (vm: VmPlace, name: string): Promise<Static<typeof Record>> => {
  const path = join(folderOf(vm, name), recordFile)
  const text = isWhole(name) ? await readIfThere(path) : undefined
  if (text === undefined) {
    const next = `\`backlot vm snapshot ls ${vm.name}\` lists them.`
    throw new Failure('snapshot_not_found', `"${vm.name}" has no snapshot "${name}"; ${next}`, { name, vm: vm.name })
  }
  try {
    return Value.Decode(Record, JSON.parse(text))
  } catch (error) {
    const why = `The snapshot "${path}" cannot be read: ${(error as Error).message}. Mend the file or delete the snapshot.`
    throw new Failure('vm_damaged', why, { path })
  }
}

/** Throws `snapshot_exists`. */
export const refuseTakenName = (vm: VmPlace, name: string): void => {
  if (!existsSync(folderOf(vm, name))) return
  throw new Failure('snapshot_exists', `"${vm.name}" has a snapshot "${name}" already; choose another name.`, { name })
}

/** Throws `vm_has_snapshots`: what they lie on stays where it is. */
export const refuseLosing = async (vm: VmPlace): Promise<void> => {
  const names = (await entriesOf(vmPath(vm.path, 'snapshots'))).filter(isWhole)
  if (names.length === 0) return
  throw new Failure(
    'vm_has_snapshots',
    `"${vm.name}" has snapshots (${names.join(', ')}), which cannot be moved; delete them first, or clone it there.`,
    { name: vm.name },
  )
}

/** Keeps the VM, which has no hypervisor, as it is. Both go on over one base; when it settles all of it survives a power cut. */
export const keepSnapshot = async (bases: Bases, vm: StoredVm, name: string, signal: AbortSignal): Promise<void> => {
  const snapshots = vmPath(vm.path, 'snapshots')
  await mkdir(snapshots, { recursive: true, mode: 0o700 })
  await syncFolder(vm.path)
  await sweep(snapshots)
  const folder = join(snapshots, `${newPrefix}${crypto.randomUUID()}`)
  await mkdir(folder, { mode: 0o700 })
  try {
    const saved = (await readSaved(vm.path)) ?? null
    const lay = async () => {
      const { base, replaced } = await bases.freeze(vm)
      await replaced
      await bases.overlay(vmPath(folder, 'disk'), base, undefined, toLocation)
      await syncFile(vmPath(folder, 'disk'))
    }
    await bases.exclusively(vm.storage, lay, { signal })
    // It is never written to again: another name is a copy.
    if (saved !== null) await link(vmPath(vm.path, 'memory'), vmPath(folder, 'memory'))
    const record = { createdAt: new Date().toISOString(), settings: vm.settings, saved }
    await writeSynced(join(folder, recordFile), `${JSON.stringify(record)}\n`)
    await syncFolder(folder)
    signal.throwIfAborted()
    refuseTakenName(vm, name)
    await rename(folder, folderOf(vm, name))
    await syncFolder(snapshots)
    await writeVmSettings(vm.path, { ...vm.settings, snapshot: name })
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/** Removes what a service that died was making or removing; whoever calls has the VM for itself. */
const sweep = async (snapshots: string): Promise<void> => {
  for (const entry of (await entriesOf(snapshots)).filter((name) => !isWhole(name)))
    await rm(join(snapshots, entry), { recursive: true, force: true })
}

/** Makes the VM, which has no hypervisor, what it was: suspended where the snapshot has a memory. */
export const restore = async (bases: Bases, vm: StoredVm, name: string): Promise<void> => {
  const { settings, saved } = await readRecord(vm, name)
  const from = folderOf(vm, name)
  const next = vmPath(vm.path, 'nextDisk')
  await rm(next, { force: true })
  await bases.overlay(next, await baseOf(vmPath(from, 'disk')))
  if (saved === null) await syncFile(next)
  else await markDisk(next, saved)
  // From here on it is neither what it was nor what it is to be, and has no memory.
  await removeSavedMemory(vm.path)
  await rename(next, vmPath(vm.path, 'disk'))
  await writeVmSettings(vm.path, { ...settingsAgain(vm.settings, settings, saved !== null), snapshot: name })
  if (saved === null) return
  await link(vmPath(from, 'memory'), vmPath(vm.path, 'memory'))
  await writeSaved(vm.path, saved)
}

/** The settings of a VM that is again what it was then: what its guest is, and whose identity it has, are those of then. */
export const settingsAgain = (now: VmSettings, then: VmSettings, hasMemory: boolean): VmSettings => {
  const { identity: _identity, guestMacAddress: _guestMacAddress, ...own } = now
  const { cpu, memoryBytes, display, identity, guestMacAddress } = then
  return {
    ...{ ...own, cpu, memoryBytes, display },
    // A guest that goes on twice from one moment must not draw the same random numbers.
    generationId: crypto.randomUUID(),
    ...(identity !== undefined && { identity }),
    // A fork that has not gone on is given its own again when it does.
    ...(hasMemory && guestMacAddress !== undefined && { guestMacAddress }),
  }
}

/** A VM with its memory, as a snapshot keeps it. */
export interface KeptVm {
  /** Its folder, with the memory. */
  readonly folder: string
  /** What the VM was then. */
  readonly settings: VmSettings
  readonly saved: SavedState
  /** What its disk lies on. */
  readonly base: BaseDisk
}

/** What a snapshot keeps, for whoever has the VM for itself. Throws `snapshot_not_found`, `snapshot_without_memory`, `vm_damaged`. */
export const readSnapshot = async (vm: StoredVm, name: string): Promise<KeptVm> => {
  const { settings, saved } = await readRecord(vm, name)
  if (saved === null) {
    const text = `The snapshot "${name}" of "${vm.name}" has no memory from which forks could go on: the VM did not run then. Restore it and run the VM, or clone that.`
    throw new Failure('snapshot_without_memory', text, { name, vm: vm.name })
  }
  const folder = folderOf(vm, name)
  const then = { ...settingsAgain(vm.settings, settings, true), snapshot: name, macAddress: settings.macAddress }
  return { folder, settings: then, saved, base: await baseOf(vmPath(folder, 'disk')) }
}

const baseOf = async (disk: string): Promise<BaseDisk> => {
  const { backing } = (await core().diskInfo(disk)).disk
  if (backing) return { file: basename(backing.name), format: backing.format } as BaseDisk
  throw new Failure('disk_corrupt', `The disk "${disk}" of a snapshot lies on no base; delete the snapshot.`, {
    path: disk,
  })
}

/** Deletes a snapshot, a damaged one too: at once it is none any more. Throws `snapshot_not_found`. */
export const deleteSnapshotOf = async (vm: VmPlace, name: string): Promise<void> => {
  const snapshots = vmPath(vm.path, 'snapshots')
  if (!isWhole(name) || !existsSync(folderOf(vm, name))) await readRecord(vm, name)
  await rename(folderOf(vm, name), join(snapshots, `${gonePrefix}${crypto.randomUUID()}`))
  await syncFolder(snapshots)
  await sweep(snapshots)
}
