/** The last steps of a move, which whoever comes after a service that died takes too. */
import { writeVmSettings } from './vm-settings.ts'
import type { StoredVm, VmStore } from './vm-store.ts'

/** Removes the folder that the VM was moved from, if it is still that VM, and forgets about it. */
export const finishMove = async (store: VmStore, moved: StoredVm): Promise<void> => {
  const { movedFrom = '', ...settings } = moved.settings
  const from = await store.at(movedFrom)
  if (from?.settings.uuid === settings.uuid) await store.remove(from)
  await writeVmSettings(moved.path, settings)
}
