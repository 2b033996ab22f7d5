/** The saved memory of a VM: a file that QEMU's migration wrote, and a record without which it is none. */
import { existsSync } from 'node:fs'
import { rename, rm, stat, utimes } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { SharedDirectory } from '@backlot/contract/vmhost/vm'
import { settleAll } from '@backlot/contract/work/settle-all'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { readIfThere, replaceFile, syncFile, syncFolder } from '../files/durable.ts'
import { vmPath } from '../vms/vm-directory.ts'

/** What a memory was saved from: only the same machine on the same disk can go on with it. */
export const SavedState = Type.Object({
  hypervisor: choice(['qemu']),
  /** Version of QEMU, like `7.2.22`. */
  version: Type.String(),
  /** Versioned, like `pc-q35-7.2`. */
  machineType: Type.String(),
  accelerator: choice(['kvm', 'tcg']),
  memoryBytes: Type.Integer(),
  hasDisplay: Type.Boolean(),
  sharedDirectories: Type.Union([Type.Array(SharedDirectory), Type.Null()]),
  /** In ISO 8601, and the time of the disk's file too: one that was written to since needs another memory. */
  savedAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$' }),
})
export type SavedState = Static<typeof SavedState>

/** Whether a memory of the VM in `folder` is saved. */
export const isSaved = (folder: string): boolean => existsSync(vmPath(folder, 'saved'))

/** The record of the VM in `folder`; undefined where no memory is saved. Throws `memory_unreadable`. */
export const readSaved = async (folder: string): Promise<SavedState | undefined> => {
  const path = vmPath(folder, 'saved')
  const text = await readIfThere(path)
  if (text === undefined) return undefined
  let saved: unknown
  try {
    saved = JSON.parse(text)
  } catch (error) {
    throw unreadable(path, (error as Error).message)
  }
  const fault = Value.Errors(SavedState, saved).First()
  if (fault !== undefined) throw unreadable(path, `${fault.path || 'it'}: ${fault.message}`)
  return saved as SavedState
}

/** The way out where a saved memory is of no use. */
export const discardHint = 'or run the VM with `discardMemory`, which boots it from its disk.'

const unreadable = (path: string, why: string): Failure =>
  new Failure('memory_unreadable', `The saved memory "${path}" cannot be read: ${why}. Mend it, ${discardHint}`, {
    path,
  })

/** Milliseconds by which the time of a file may differ from what it was set to. */
const precisionMs = 2

/** Whether the disk is as it was when the memory was saved. */
export const fitsDisk = async (folder: string, { savedAt }: SavedState): Promise<boolean> =>
  Math.abs((await stat(vmPath(folder, 'disk'))).mtimeMs - Date.parse(savedAt)) < precisionMs

/** Marks a disk as the one that belongs to a memory, durably. */
export const markDisk = async (disk: string, { savedAt }: Pick<SavedState, 'savedAt'>): Promise<void> => {
  await utimes(disk, new Date(savedAt), new Date(savedAt))
  await syncFile(disk)
}

/**
 * Makes the memory that was written to the unfinished file the VM's saved one: when this settles, all of it survives a
 * power cut. The hypervisor must have stopped writing to both.
 */
export const keepSaved = async (folder: string, about: Omit<SavedState, 'savedAt'>): Promise<void> => {
  const saved: SavedState = { ...about, savedAt: new Date().toISOString() }
  const next = vmPath(folder, 'nextMemory')
  await settleAll([syncFile(next), markDisk(vmPath(folder, 'disk'), saved)])
  await rename(next, vmPath(folder, 'memory'))
  await syncFolder(folder)
  await writeSaved(folder, saved)
}

/** Writes the record, durably; from then on the memory beside it is the VM's saved one. */
export const writeSaved = (folder: string, saved: SavedState): Promise<void> =>
  replaceFile(vmPath(folder, 'saved'), `${JSON.stringify(saved)}\n`)

/** Removes the saved memory: the VM is not suspended any more. Doing it twice is fine. */
export const removeSavedMemory = async (folder: string): Promise<void> => {
  await rm(vmPath(folder, 'saved'), { force: true })
  await syncFolder(folder)
  await rm(vmPath(folder, 'memory'), { force: true })
}

/** Removes the saved memory of a VM that went on with it and ended, where its disk says so. */
export const removeUsedMemory = async (folder: string): Promise<void> => {
  const saved = await readSaved(folder).catch(() => undefined)
  if (saved !== undefined && !(await fitsDisk(folder, saved))) await removeSavedMemory(folder)
}
