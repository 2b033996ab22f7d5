/** The last steps of a move, which whoever comes after a service that died takes too. */
import { Failure } from '@backlot/contract/failure'
import { sizeOfPool, writePoolSize } from '../pools/pool-file.ts'
import { realPath } from '../storage/real-path.ts'
import { vmPath } from './vm-directory.ts'
import { newIdentity, writeVmSettings } from './vm-settings.ts'
import type { StoredVm, VmStore } from './vm-store.ts'

/**
 * Removes the folder that the VM was moved from, whose pool size it takes over, and forgets about the move; whoever calls
 * holds the lock of one side. Throws `vm_busy` where another service works on the other. A source that does not say that it
 * goes there has lived on meanwhile and is left alone: what came here is then a copy, and gets an identity of its own.
 */
export const finishMove = async (store: VmStore, moved: StoredVm): Promise<void> => {
  const { movedFrom = '', ...settings } = moved.settings
  const from = await store.at(movedFrom)
  using _from = from && otherSide(store, from)
  using _to = otherSide(store, moved)
  const isSame = from?.settings.uuid === settings.uuid
  const goesHere = isSamePath(from?.settings.movingTo, moved.path)
  if (isSame && goesHere) {
    const poolSize = sizeOfPool(from.path)
    if (poolSize > 0) await writePoolSize(moved.path, poolSize)
    await store.remove(from).catch(ignoreGone)
  }
  await writeVmSettings(moved.path, { ...settings, ...(isSame && !goesHere && newIdentity()) })
}

/** The service that wrote it may have come by another path. */
const isSamePath = (written: string | undefined, path: string): boolean =>
  written !== undefined && realPath(written) === realPath(path)

const otherSide = (store: VmStore, { name, path }: StoredVm): Disposable => {
  const held = store.locks.tryTake(vmPath(path, 'work'))
  if (held !== undefined) return held
  throw new Failure('vm_busy', `Another service works on "${name}" in "${path}"; wait for it.`, { name, path })
}

/** Inside this service two may come upon the rest of a move at the same time. */
const ignoreGone = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'ENOENT') throw error
}

/**
 * Brings the move to its end that a service which died has left, whichever side of it the VM is; says whether there was
 * one, so that the VM is another now.
 */
export const finishInterruptedMove = async (store: VmStore, vm: StoredVm): Promise<boolean> => {
  const { movingTo, ...settings } = vm.settings
  if (settings.movedFrom !== undefined) {
    await finishMove(store, vm)
    return true
  }
  if (movingTo === undefined) return false
  const there = await store.at(movingTo)
  const isWhole = there?.settings.uuid === settings.uuid && isSamePath(there.settings.movedFrom, vm.path)
  if (isWhole) await finishMove(store, there)
  else await writeVmSettings(vm.path, settings)
  return true
}
