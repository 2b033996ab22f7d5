/** Puts the files of a new VM into its place. */
import { fileFailure } from '../files/file-failure.ts'
import type { Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import { placeExecutable } from '../sources/local-image.ts'
import type { CreateInput, Plan } from '../sources/source.ts'
import { writeSeed } from '../vms/seed.ts'
import { type VmSettings, writeNewSettings } from '../vms/vm-settings.ts'
import type { VmPlace } from '../vms/vm-store.ts'

/** Makes the VM that was planned, all or nothing; `settle` does what is left while nobody else can work on it. */
export const createPlanned = async (
  host: Host,
  place: VmPlace,
  settings: VmSettings,
  plan: Plan,
  diskBytes: number,
  { userData, executable }: Pick<CreateInput, 'userData' | 'executable'>,
  work: Task,
  settle?: () => Promise<void>,
): Promise<void> => {
  const fill = async (folder: string) => {
    await plan.fill(folder, place.storage, diskBytes, work)
    if (executable) await placeExecutable(host, folder, work)
    work.signal.throwIfAborted()
    if (plan.seeded || userData !== undefined) {
      await writeSeed(folder, { instanceId: settings.instanceId, hostName: place.name, userData })
    }
    await writeNewSettings(folder, settings)
    work.signal.throwIfAborted()
  }
  try {
    await host.store.make(place.storage, place.name, fill, settle)
  } catch (error) {
    throw fileFailure(error, place.storage.path)
  }
}
