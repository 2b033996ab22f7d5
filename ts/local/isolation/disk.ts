/** The disk of a sandbox: a file system of a size of its own, where root may mount one. */
import { truncateSync, writeFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { program } from '../programs.ts'

/** Makes an image of a file system of so many gibibytes that begins with the files of a folder, and takes what is written. */
export const makeDisk = async (image: string, folder: string, gibibytes: number): Promise<void> => {
  writeFileSync(image, '', { mode: 0o600 })
  truncateSync(image, Math.round(gibibytes * 2 ** 30))
  const words = [program('mke2fs', 'A disk of a size'), '-q', '-F', '-t', 'ext4', '-m', '0', '-d', folder, image]
  const child = Bun.spawn(words, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const [errors, status] = await Promise.all([child.stderr.text(), child.exited])
  if (status === 0) return
  throw new Failure('sandbox_not_started', `mke2fs could make no disk of ${gibibytes} GiB: ${errors.trim()}`, {
    disk_gb: gibibytes,
  })
}
