/** The disk of a VM, which is qcow2: whatever its first bytes hold, it is never taken for a raw one. */
import { Failure } from '@backlot/contract/failure'
import { core } from '../core.ts'

type DiskInfo = Awaited<ReturnType<ReturnType<typeof core>['diskInfo']>>

/** What the disk of a VM says of itself; throws `disk_corrupt` where it does not begin as one. */
export const ownDisk = async (path: string): Promise<DiskInfo> => {
  const info = await core().diskInfo(path)
  if (info.disk.format === 'qcow2') return info
  throw new Failure(
    'disk_corrupt',
    `The disk "${path}" is damaged: it does not begin as a qcow2 file. Look with \`qemu-img check\`, and take it from a backup or its image again.`,
    { path },
  )
}
