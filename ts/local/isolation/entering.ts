/** The words that start a command in namespaces of its own: what the caller's user can do is done, and no more. */
import { Failure } from '@backlot/contract/failure'
import script from '../enter.sh' with { type: 'text' }
import { asOwner, withAllIds } from '../own-root/all-ids.ts'
import { endingWords, namespaceWords, type OwnRoot, overlayWords, ownIsolation } from '../own-root/entering.ts'
import { program } from '../programs.ts'

/** The user inside of every sandbox. */
export const inside = { uid: 1000, gid: 1000, name: 'user', home: '/home/user' } as const

/** A file or folder of the host, seen in a sandbox. */
export interface SharedPath {
  readonly source: string
  readonly path: string
  readonly isWritable: boolean
}

/** What to start. */
export interface Entering {
  /** An empty folder of ours, for mounts of root's sandboxes and of those with an own root. */
  readonly stage: string
  /** The user of the host that the sandbox's programs run as where root starts it. */
  readonly user: number
  /** `cgroup.procs` of the control groups to join. */
  readonly cgroups: readonly string[]
  /** An image of a file system and the folder to mount it at. */
  readonly disk: { readonly image: string; readonly folder: string } | null
  /** The root of its own to enter, or null where it has programs of the host. */
  readonly ownRoot: OwnRoot | null
  /** What is shown beside the programs. */
  readonly shown: readonly SharedPath[]
  /** Words for bwrap before and after the binds. */
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly command: readonly string[]
}

/** Whether this process may mount and be another user. */
export const isRoot = (): boolean => process.geteuid?.() === 0

/**
 * The whole command line, each program of which becomes the next, so that bwrap's parent is who starts it. Root's
 * sandboxes run as a user that this machine does not know: user 0 without any capability may still write to files of
 * the kernel that belong to it, such as `/proc/sys/kernel/core_pattern`.
 */
export const bwrapCommand = (entering: Entering): [string, ...string[]] => {
  const root = isRoot()
  const words: string[] = entering.cgroups.flatMap((file) => ['--cgroup', file])
  if (entering.disk !== null) words.push('--disk', entering.disk.image, entering.disk.folder)
  const { ownRoot } = entering
  const mounts = root || ownRoot !== null
  if (mounts) words.push('--stage', entering.stage)
  if (ownRoot !== null) words.push(...overlayWords(ownRoot))
  else if (root) words.push('--user', String(entering.user))
  const binds = entering.shown.flatMap(({ source, path, isWritable }, index) => {
    if (mounts) words.push('--show', source, String(index))
    return [isWritable ? '--bind' : '--ro-bind', mounts ? `/mnt/${index}` : source, path]
  })
  const namespaces = ownRoot === null ? isolation : ownIsolation
  const bwrap = [program('bwrap', 'A sandbox'), ...namespaces, ...entering.before, ...binds, ...entering.after]
  const shell = [
    '/bin/sh',
    '-c',
    script,
    'backlot-enter',
    ...words,
    '--',
    ...(ownRoot === null ? [] : asOwner()),
    ...bwrap,
    '--',
    ...entering.command,
  ]
  if (!mounts) return shell as [string, ...string[]]
  const [first = program('unshare', 'A sandbox that mounts'), ...rest] = ownRoot === null ? [] : withAllIds()
  return rest.length === 0 ? [first, '--mount', '--', ...shell] : [first, ...rest, 'unshare', '--mount', '--', ...shell]
}

/** The namespaces, and the death of all with the one who started it. */
const isolation = [
  '--unshare-user',
  ...['--uid', String(inside.uid), '--gid', String(inside.gid)],
  ...namespaceWords,
  ...endingWords,
]

/** Where a sandbox would mount over its own foundations; throws `invalid_argument`. */
export const refuseReserved = (path: string): void => {
  const isPlain = /^\/[^\0]+$/.test(path) && !path.split('/').some((part) => part === '..' || part === '.')
  const isReserved = /^\/(?:usr|bin|sbin|lib\w*|etc|proc|dev|sys|run)(?:\/|$)/.test(path)
  if (isPlain && !isReserved) return
  throw new Failure(
    'invalid_argument',
    `A mount cannot be seen at "${path}"; take an absolute path below ${inside.home}, /mnt, /srv or /opt.`,
    { argument: 'mounts' },
  )
}
