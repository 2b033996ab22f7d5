/** A small disk with the executable, for guests that run it: made once for each executable, and shared by VMs. */
import { existsSync } from 'node:fs'
import { constants, copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { makeFolder, syncFile, syncFolder } from '../files/durable.ts'
import type { Host } from '../host/host.ts'

/** What the guest knows the disk by. */
const label = 'BACKLOT'

/** Where they stand, below the cache directory. */
const folderName = '.executables'

/** The disk with the executable of this service, which may be given other names. Throws `missing_program`. */
export const executableDisk = async (
  { executable, locks, turns }: Pick<Host, 'executable' | 'locks' | 'turns'>,
  cacheDirectory: string,
  signal: AbortSignal,
): Promise<string> => {
  if (executable === undefined) {
    const next = 'Start the service with the executable, which `./dev build` makes.'
    throw new Failure('missing_program', `The guest runs Backlot, and this service runs from its sources. ${next}`, {
      program: 'backlot',
    })
  }
  const folder = join(cacheDirectory, folderName)
  await makeFolder(folder)
  const make = async () => {
    using _lock = await locks.take(join(folder, 'lock'), { signal })
    return await makeDisk(executable, folder)
  }
  return turns.take(folder, make, { signal })
}

/** The disk in the folder, made where it is not there yet, for whoever works in the folder alone. */
const makeDisk = async (program: string, folder: string): Promise<string> => {
  const { dev, ino, size, mtimeMs } = await stat(program)
  const path = join(folder, `${Bun.hash(`${dev}/${ino}/${size}/${mtimeMs}`).toString(36)}.img`)
  if (existsSync(path)) return path
  // VMs have names of their own for those of before.
  for (const file of await readdir(folder)) {
    if (file !== 'lock') await rm(join(folder, file), { recursive: true })
  }
  const work = join(folder, '.new')
  await mkdir(join(work, 'root'), { recursive: true })
  const inside = join(work, 'root', 'backlot')
  await link(program, inside).catch(() => copyFile(program, inside, constants.COPYFILE_FICLONE))
  await makeFileSystem(join(work, 'disk'), join(work, 'root'), size)
  await syncFile(join(work, 'disk'))
  await rename(join(work, 'disk'), path)
  await rm(work, { recursive: true })
  await syncFolder(folder)
  return path
}

const makeFileSystem = async (disk: string, root: string, contentBytes: number): Promise<void> => {
  const program = Bun.which('mke2fs', { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` })
  if (program === null) {
    throw new Failure('missing_program', '"mke2fs" is not installed; on Debian and Ubuntu: apt install e2fsprogs.', {
      program: 'mke2fs',
    })
  }
  // Beside the content: the tables of a file system that is never written to.
  const mebibytes = Math.ceil(contentBytes / 2 ** 20) + 8
  const options = ['-q', '-F', '-t', 'ext4', '-O', '^has_journal', '-L', label, '-m', '0', '-N', '16']
  const child = Bun.spawn([program, ...options, '-d', root, disk, `${mebibytes}m`], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  })
  const [complaint, status] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (status === 0) return
  const last = complaint.trim().split('\n').at(-1)
  throw new Failure(
    'disk_tool_failed',
    `The disk with the executable cannot be made: ${last}. Make room and try again.`,
    { path: disk },
  )
}
