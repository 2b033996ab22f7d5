/** A disc image to install from: the VM boots it while its own disk is empty. */
import { core } from '../core.ts'
import { readableFile } from '../storage/directory.ts'
import { vmPath } from '../vms/vm-directory.ts'
import type { Source } from './source.ts'

export const iso: Source = {
  matches: ({ iso }) => iso !== undefined,
  isLong: false,
  async plan({ iso = '' }) {
    return {
      settings: { iso: await readableFile(iso) },
      seeded: false,
      fill: (folder, _storage, bytes) => core().createDisk(vmPath(folder, 'disk'), bytes, { sync_folder: false }),
    }
  },
}
