/** A disk with an ext4 file system made of folders, without mounting it and whoever calls. */
import { existsSync } from 'node:fs'
import { lstat, open, readdir, readlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { BuiltRoot } from './recipe.ts'
import { run } from './run.ts'

/** How a disk is made. */
interface DiskOptions {
  readonly bytes: number
  readonly label: string
  readonly signal?: AbortSignal | undefined
}

/** Makes `disk` of `bytes` from the folder `root`; every file in it belongs to root, whoever calls. */
export const makeDisk = async (disk: string, root: string, options: DiskOptions): Promise<void> => {
  await writeFile(disk, '')
  await run('mke2fs', words(root, disk, options, 32_768), { signal: options.signal })
  if (process.getuid?.() === 0) return
  const paths = await readdir(root, { recursive: true })
  const commands = paths.flatMap((path) => ['uid', 'gid'].map((field) => `set_inode_field "/${path}" ${field} 0`))
  await change(disk, commands, join(root, '..', 'owners'), options.signal)
}

/** Makes `disk` of a root of packages, whose files keep their owners, and of the folder `over` that is laid over it. */
export const makeDiskOver = async (
  disk: string,
  base: BuiltRoot,
  over: string,
  options: DiskOptions,
): Promise<void> => {
  const { signal } = options
  {
    await using file = await open(disk, 'wx+', 0o600)
    // Who owns the files of the root reaches neither folder by its path, and writes to this file for as long as that takes.
    await file.chmod(0o666)
    const place = { signal, cwd: base.folder, before: base.asOwner, third: file.fd }
    await run('mke2fs', words('.', '/proc/self/fd/3', options, 16_384), place)
    await file.chmod(0o600)
  }
  const commands = [...(await exactTimes(base.folder, 'usr/share/fonts')), ...(await layingCommands(base.folder, over))]
  await change(disk, commands, join(over, '..', 'laying'), signal)
}

/**
 * What debugfs is told so that a folder and those in it have their times to the nanosecond: mke2fs leaves them at whole
 * seconds, and fontconfig would make its caches again at the first start, which takes seconds under emulation.
 */
const exactTimes = async (root: string, folder: string): Promise<string[]> => {
  const found = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => [])
  const below = found.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  const folders = found.length === 0 ? [] : [join(root, folder), ...below]
  return Promise.all(
    folders.map(async (path) => {
      const { mtimeNs } = await lstat(path, { bigint: true })
      // Below the nanoseconds stand two bits of the seconds (ext4, `i_mtime_extra`).
      return `set_inode_field "/${relative(root, path)}" mtime_extra ${(mtimeNs % 1_000_000_000n) << 2n}`
    }),
  )
}

const words = (root: string, disk: string, { bytes, label }: DiskOptions, inodeBytes: number): string[] => {
  // Few inodes, written now: the guest's kernel would write them in the background of every first boot.
  const extended = 'root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0'
  const options = ['-q', '-F', '-t', 'ext4', '-L', label, '-m', '0', '-i', String(inodeBytes), '-J', 'size=8']
  return [...options, '-E', extended, '-d', root, disk, `${bytes / 1024}k`]
}

/** What debugfs is told to lay `over` onto the file system made of `root`; everything belongs to root. */
const layingCommands = async (root: string, over: string): Promise<string[]> => {
  const commands: string[] = []
  for (const path of (await readdir(over, { recursive: true })).sort()) {
    const [from, to] = [join(over, path), `"/${path}"`]
    const about = await lstat(from)
    const isThere = existsSync(join(root, path))
    if (about.isDirectory()) {
      if (isThere) continue
      commands.push(`mkdir ${to}`)
    } else {
      if (isThere) commands.push(`rm ${to}`)
      if (about.isSymbolicLink()) {
        commands.push(`symlink ${to} "${await readlink(from)}"`)
        continue
      }
      commands.push(`write "${from}" ${to}`)
    }
    commands.push(`set_inode_field ${to} mode 0${about.mode.toString(8)}`)
    for (const field of ['uid', 'gid']) commands.push(`set_inode_field ${to} ${field} 0`)
  }
  return commands
}

/** Changes a file system; debugfs goes on after what fails, so that any word of complaint is a failure. */
const change = async (disk: string, commands: readonly string[], script: string, signal?: AbortSignal) => {
  await writeFile(script, commands.map((command) => `${command}\n`).join(''))
  const complaints: string[] = []
  await run('debugfs', ['-w', '-f', script, disk], {
    signal,
    onComplaint: (line) => {
      if (!line.startsWith('debugfs ')) complaints.push(line)
    },
  })
  if (complaints.length > 0) {
    throw new Failure('image_not_built', `"debugfs" failed: ${complaints.slice(0, 4).join(' ')}`, {
      program: 'debugfs',
    })
  }
}
