/** An empty disk. */
import { core } from '../core.ts'
import { vmPath } from '../vms/vm-directory.ts'
import type { Source } from './source.ts'

export const blank: Source = {
  matches: ({ image, iso }) => image === undefined && iso === undefined,
  isLong: false,
  async plan() {
    return {
      settings: {},
      seeded: false,
      fill: (folder, _storage, bytes) => core().createDisk(vmPath(folder, 'disk'), bytes, { sync_folder: false }),
    }
  },
}
