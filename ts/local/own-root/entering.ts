/** The level `own-root`: an overlay over a root that all sandboxes share, with root's rights in it and none outside. */
import { mkdirSync } from 'node:fs'
import { ownerThere } from './all-ids.ts'

/** The user inside of a sandbox with an own root: it installs packages. */
export const rootInside = { uid: 0, name: 'root', home: '/root' } as const

/** An own root to enter: what the sandbox sees below its own files, uppermost first, and the folder with these. */
export interface OwnRoot {
  readonly lowers: readonly string[]
  readonly files: string
  /** What else becomes user 0's of the sandbox: files and folders that its programs could not reach before. */
  readonly given: readonly string[]
}

/** Makes the folders in which an overlay keeps what a sandbox changes, where there are none yet. */
export const makeUpper = (files: string): void => {
  mkdirSync(`${files}/upper`, { recursive: true, mode: 0o755 })
  mkdirSync(`${files}/work`, { mode: 0o700 })
}

/** Words for `enter.sh` that mount the overlay, which is /mnt/root afterwards. */
export const overlayWords = ({ lowers, files, given }: OwnRoot): string[] => [
  ...[`${files}/upper`, ...given].flatMap((path) => ['--give', String(ownerThere()), path]),
  ...lowers.flatMap((path) => ['--lower', path]),
  // The other extended attributes, in which an overlay keeps what it hides, are for the true root alone.
  ...['--overlay', files, process.geteuid?.() === 0 ? 'trusted' : 'user'],
]

/** Rights of user 0 inside, over its own ids: what installing packages takes. */
const rights = [
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_KILL',
  'CAP_SETFCAP',
  'CAP_SETGID',
  'CAP_SETPCAP',
  'CAP_SETUID',
  'CAP_SYS_CHROOT',
]

/** Words for bwrap: the namespaces beside that of the user, without any right in them. */
export const namespaceWords = [
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--unshare-net'],
  ...['--cap-drop', 'ALL'],
]

/** Words for bwrap: the end of all with who started it, of which it tells. */
export const endingWords = ['--new-session', '--die-with-parent', '--info-fd', '3']

/** The namespaces for bwrap, which is in a user namespace already. */
export const ownIsolation = [...namespaceWords, ...rights.flatMap((right) => ['--cap-add', right]), ...endingWords]

/** The words for bwrap that show the root. */
export const ownFiles = (): string[] => [
  ...['--bind', '/mnt/root', '/', '--proc', '/proc', '--dev', '/dev'],
  ...['--size', String(2 ** 31), '--tmpfs', '/dev/shm', '--size', String(2 ** 28), '--tmpfs', '/run'],
  ...['--perms', '1777', '--size', String(2 ** 30), '--tmpfs', '/tmp'],
]
