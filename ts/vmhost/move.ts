/** The last steps of a move, which whoever comes after a service that died takes too. */
import { newIdentity, writeVmSettings } from './vm-settings.ts'
import type { StoredVm, VmStore } from './vm-store.ts'

/**
 * Removes the folder that the VM was moved from, and forgets about the move. A source that does not say that it goes
 * there has lived on meanwhile and is left alone: what came here is then a copy, and gets an identity of its own.
 */
export const finishMove = async (store: VmStore, moved: StoredVm): Promise<void> => {
  const { movedFrom = '', ...settings } = moved.settings
  const from = await store.at(movedFrom)
  const isSame = from?.settings.uuid === settings.uuid
  const goesHere = from?.settings.movingTo === moved.path
  if (isSame && goesHere) await store.remove(from)
  await writeVmSettings(moved.path, { ...settings, ...(isSame && !goesHere && newIdentity()) })
}

/**
 * Brings the move to its end that a service which died has left, whichever side of it the VM is; says whether there was
 * one, so that the VM is another now.
 */
export const settleMove = async (store: VmStore, vm: StoredVm): Promise<boolean> => {
  const { movingTo, ...settings } = vm.settings
  if (settings.movedFrom !== undefined) {
    await finishMove(store, vm)
    return true
  }
  if (movingTo === undefined) return false
  const there = await store.at(movingTo)
  const isWhole = there?.settings.uuid === settings.uuid && there.settings.movedFrom === vm.path
  if (isWhole) await finishMove(store, there)
  else await writeVmSettings(vm.path, settings)
  return true
}
