/** The level `host-programs`: the programs of this machine to read, and of its other files nothing. */
import { lstatSync, readlinkSync } from 'node:fs'

/** What of `/etc` programs need, none of which holds what a machine or a person keeps to itself. */
export const etcOfPrograms = [
  'ImageMagick-6',
  'X11',
  'alternatives',
  'bash.bashrc',
  'chromium',
  'chromium.d',
  'dbus-1',
  'dconf',
  'debian_version',
  'firefox',
  'firefox-esr',
  'fonts',
  'glvnd',
  'gtk-2.0',
  'gtk-3.0',
  'gtk-4.0',
  'inputrc',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'libreoffice',
  'localtime',
  'magic',
  'mime.types',
  'os-release',
  'perl',
  'profile',
  'protocols',
  'python3',
  'services',
  'shells',
  'skel',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
  'vim',
  'vulkan',
  'xdg',
] as const

/** Folders of programs that most systems keep below `/usr`. */
export const foldersOfPrograms = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'] as const

const kindOf = (path: string): 'link' | 'other' | null => {
  try {
    return lstatSync(path).isSymbolicLink() ? 'link' : 'other'
  } catch {
    return null
  }
}

/** The words for bwrap that show the programs of this machine. */
export const hostPrograms = (): string[] => [
  ...['--ro-bind', '/usr', '/usr'],
  ...foldersOfPrograms.flatMap((name) => {
    const kind = kindOf(`/${name}`)
    if (kind === null) return []
    return kind === 'link' ? ['--symlink', readlinkSync(`/${name}`), `/${name}`] : ['--ro-bind', `/${name}`, `/${name}`]
  }),
  ...etcOfPrograms.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
  ...['--proc', '/proc', '--dev', '/dev'],
  ...['--size', String(shmBytes), '--tmpfs', '/dev/shm', '--size', String(runBytes), '--tmpfs', '/run'],
  // Not on the disk: where that is full the X server has still room to start.
  ...['--perms', '1777', '--size', String(tmpBytes), '--tmpfs', '/tmp'],
]

/** Bytes of shared memory, of which browsers take much, of `/tmp` and of `/run`, as long as they are used. */
const shmBytes = 2 ** 31
const tmpBytes = 2 ** 30
const runBytes = 2 ** 28
