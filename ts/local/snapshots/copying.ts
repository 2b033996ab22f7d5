/** Copies of the files of sandboxes: whole, with holes, owners, extended attributes and hard links, and on the disk. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { isRoot } from '../isolation/entering.ts'
import { canHaveAllIds, withAllIds } from '../own-root/all-ids.ts'
import { program } from '../programs.ts'

/**
 * What a program is started with so that it may use all files of a sandbox, also those that their owner has taken its own
 * rights from, and those of the users of an own root: an ordinary user is root of a user namespace for that. It ends with
 * this process.
 */
const withAllRights = (): string[] => [
  ...(isRoot() ? [] : inNamespace()),
  ...[program('setpriv', 'A copy of files'), '--pdeathsig', 'KILL', '--'],
]

const inNamespace = (): string[] =>
  canHaveAllIds() ? withAllIds() : [program('unshare', 'A copy of files'), '--user', '--map-root-user', '--']

/** Runs a program over files to its end; gives what it printed. Throws `disk_full` or `storage_unusable`. */
export const overFiles = async (path: string, words: readonly string[]): Promise<string> => {
  const child = Bun.spawn([...withAllRights(), ...words], {
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [text, errors, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (status === 0) return text
  if (/No space left on device|Disk quota exceeded/.test(errors)) {
    throw new Failure('disk_full', `There is no room left for a copy of "${path}". Make room and try again.`, { path })
  }
  const why = errors.trim().split('\n')[0] ?? `${words[0]} ended with ${child.signalCode ?? status}`
  throw new Failure('storage_unusable', `"${path}" cannot be copied: ${why}. Change its rights, or make room.`, {
    path,
  })
}

/** Copies a file or folder to a path at which nothing is, sharing its blocks where the file system can. */
export const copyTree = async (source: string, target: string): Promise<void> => {
  const kept = 'mode,ownership,timestamps,links,xattr'
  const how = ['--recursive', '--no-dereference', `--preserve=${kept}`, '--reflink=auto', '--sparse=auto']
  await overFiles(source, ['cp', ...how, '--no-target-directory', '--', source, target])
}

/** Gives all files of a folder to a user of the host. */
export const changeOwner = async (path: string, user: number): Promise<void> => {
  await overFiles(path, ['chown', '--recursive', '--no-dereference', `${user}:${user}`, '--', path])
}

/** Bytes that a folder takes of the disk. */
export const bytesOf = async (path: string): Promise<number> =>
  Number.parseInt(await overFiles(path, ['du', '--summarize', '--block-size=1', '--', path]), 10)

/** Settles when all that was written to the file system of a path is on the disk. */
export const syncFileSystem = async (path: string): Promise<void> => {
  await overFiles(path, ['sync', '--file-system', '--', path])
}

/** Lets the names in a folder be on the disk. */
export const syncNames = (folder: string): void => {
  const file = openSync(folder, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
