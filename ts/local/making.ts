/** What a sandbox is made of before it starts for the first time. */

import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, lstatSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { writeWholeSync } from '@backlot/native/durable'
import { makeDisk } from './isolation/disk.ts'
import { inside, isRoot, refuseReserved, type SharedPath } from './isolation/entering.ts'
import { resolver } from './network/network.ts'
import { makeUpper } from './own-root/entering.ts'
import { copyToSandbox } from './snapshots/snapshots.ts'
import type { FilesSource } from './snapshots/store.ts'
import { ownFolders, type SandboxFolder } from './state/folder.ts'
import { type Mount, type SandboxRecord, writeRecord } from './state/record.ts'

const hostsFor = (...names: string[]): string => `127.0.0.1 localhost ${names.join(' ')}\n::1 localhost\n`

/** Files of `/etc` that are the sandbox's own. */
const etcOf = (record: SandboxRecord): Readonly<Record<string, string>> => ({
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\n${inside.name}:x:${inside.uid}:${inside.gid}::${inside.home}:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: `root:x:0:\n${inside.name}:x:${inside.gid}:\nnogroup:x:65534:\n`,
  hostname: `${record.name}\n`,
  hosts: hostsFor(record.name),
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  'resolv.conf': resolver(record.network),
  'machine-id': `${randomBytes(16).toString('hex')}\n`,
})

/** Makes the files of a new sandbox in its folder, which must not be there: those of `source`, or its first ones. */
export const makeSandbox = async (
  folder: SandboxFolder,
  record: SandboxRecord,
  source: FilesSource | null = null,
): Promise<void> => {
  mkdirSync(folder.path, { mode: 0o700 })
  writeRecord(folder.record, record)
  writeWholeSync(folder.key, `${randomBytes(32).toString('base64url')}\n`)
  if (source !== null) await copyToSandbox(source, folder.files, folder.user)
  else if (record.isolation === 'own-root') makeOwnRoot(folder)
  else makeFirstFiles(folder)
  mkdirSync(folder.at('etc'))
  for (const [name, text] of Object.entries(etcOf(record))) writeFileSync(folder.at('etc', name), text)
  if (record.disk_gb !== null && isRoot()) await makeDisk(folder.at('disk.img'), folder.files, record.disk_gb)
}

/** Gives a sandbox that runs another name in its own files, beside the one that its kernel names it by until it ends. */
export const nameInside = (folder: SandboxFolder, name: string, before: string): void => {
  // In place: it sees these very files.
  writeFileSync(folder.at('etc/hostname'), `${name}\n`)
  writeFileSync(folder.at('etc/hosts'), hostsFor(name, before))
}

const makeOwnRoot = (folder: SandboxFolder): void => {
  mkdirSync(folder.files, { mode: 0o700 })
  makeUpper(folder.files)
}

/** Folders of its own beside programs of the host. */
const makeFirstFiles = (folder: SandboxFolder): void => {
  folder.makeOwn(folder.files)
  for (const name of Object.keys(ownFolders)) folder.makeOwn(folder.at('files', name), 0o755)
  for (const name of ['lib', 'tmp', 'cache', 'log']) folder.makeOwn(folder.at('files', 'var', name), 0o755)
}

/** Files of `/etc` that stay the root's own where a sandbox has one: packages add their users to them. */
const ofRoot = ['passwd', 'group', 'nsswitch.conf']

/** Makes anew what belongs to one run: the shared folder with the key, which the last run's programs could write to. */
export const makeShare = (folder: SandboxFolder, key: string): void => {
  // Who looks after the sandbox opens the socket in it, also where it is another user's inside.
  folder.makeOwn(folder.share, 0o711)
  const path = join(folder.share, 'key')
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' })
  if (isRoot()) chownSync(path, folder.user, folder.user)
}

/**
 * What fontconfig has found in the folders of fonts, which a sandbox with programs of the host sees as they are there. Each
 * program that draws text would look through all fonts itself otherwise, half a second of a core.
 */
const fontCache = '/var/cache/fontconfig'

const fontsFound = ({ isolation }: SandboxRecord): SharedPath[] =>
  isolation === 'host-programs' && existsSync(fontCache)
    ? [{ source: fontCache, path: fontCache, isWritable: false }]
    : []

/** All that a sandbox sees beside programs: its own files, and the mounts of the host. */
export const sharedPathsOf = (folder: SandboxFolder, record: SandboxRecord): SharedPath[] => [
  ...(record.isolation === 'own-root'
    ? []
    : Object.entries(ownFolders).map(([name, path]) => ({ source: folder.at('files', name), path, isWritable: true }))),
  ...fontsFound(record),
  ...Object.keys(etcOf(record)).flatMap((name) =>
    record.isolation === 'own-root' && ofRoot.includes(name)
      ? []
      : [{ source: folder.at('etc', name), path: `/etc/${name}`, isWritable: false }],
  ),
  { source: folder.share, path: '/run/backlot', isWritable: true },
  ...record.mounts.map(({ host_path, path, read_only }) => ({ source: host_path, path, isWritable: !read_only })),
]

/** Refuses mounts that cannot be; throws `invalid_argument` or `unsupported`. */
export const refuseMounts = (mounts: readonly Mount[], user: number): void => {
  for (const { host_path, path, read_only } of mounts) {
    refuseReserved(path)
    if (!host_path.startsWith('/') || !existsSync(host_path)) {
      throw new Failure(
        'invalid_argument',
        `"${host_path}" cannot be mounted: it is no absolute path of a file or folder.`,
        { argument: 'mounts' },
      )
    }
    const { mode, uid } = statSync(host_path)
    const needed = read_only ? 0o004 : 0o006
    if (uid === user || user === process.geteuid?.() || (mode & needed) === needed) continue
    const [verb, rights] = read_only ? ['read', 'o+rX'] : ['written to', 'o+rwX']
    throw new Failure(
      'unsupported',
      `"${host_path}" cannot be ${verb} from this sandbox, whose programs run as a user without rights; let everybody do so: chmod ${rights}${read_only ? '' : ', or mount it read-only'}.`,
      { argument: 'mounts' },
    )
  }
}

/** Refuses to mount over a link that a program of the sandbox has put in the way; throws `invalid_argument`. */
export const refuseLinks = (folder: SandboxFolder, { disk_gb, mounts }: SandboxRecord): void => {
  for (const { path } of mounts) {
    const [name, root] = Object.entries(ownFolders).find(([, each]) => path.startsWith(`${each}/`)) ?? []
    if (name === undefined || root === undefined) continue
    const why = disk_gb !== null ? 'it lies on the disk of the sandbox' : 'a link of the sandbox is in the way'
    if (disk_gb === null && !hasLink(folder.at('files', name), path.slice(root.length))) continue
    throw new Failure('invalid_argument', `Nothing can be mounted at "${path}": ${why}. Mount it below /mnt.`, {
      argument: 'mounts',
    })
  }
}

/** Whether one of the folders on the way from `base` to `path` below it is a link. */
const hasLink = (base: string, path: string): boolean => {
  let at = base
  for (const part of path.split('/').filter(Boolean)) {
    at = join(at, part)
    try {
      if (lstatSync(at).isSymbolicLink()) return true
    } catch {
      return false
    }
  }
  return false
}
