/** A disk with an ext4 file system made of a folder, without mounting it and whoever calls. */
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'

/** Makes `disk` of `bytes` from the folder `root`; every file in it belongs to root, whoever calls. */
export const makeDisk = async (
  disk: string,
  root: string,
  { bytes, label, signal }: { bytes: number; label: string; signal?: AbortSignal | undefined },
): Promise<void> => {
  await writeFile(disk, '')
  // Few inodes, written now: the guest's kernel would write them in the background of every first boot.
  const extended = 'root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0'
  const options = ['-q', '-F', '-t', 'ext4', '-L', label, '-m', '0', '-i', '32768', '-J', 'size=8', '-E', extended]
  await run('mke2fs', [...options, '-d', root, disk, `${bytes / 1024}k`], { signal })
  if (process.getuid?.() === 0) return
  const paths = await readdir(root, { recursive: true })
  const commands = paths.flatMap((path) => ['uid', 'gid'].map((field) => `set_inode_field "/${path}" ${field} 0\n`))
  const script = join(root, '..', 'owners')
  await writeFile(script, commands.join(''))
  await run('debugfs', ['-w', '-f', script, disk], { signal })
}
