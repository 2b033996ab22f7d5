/**
 * The level `landlock`, where namespaces are refused: a private desktop whose programs reach the files that are listed, TCP
 * ports of the internet, and no process but their own. Its X server is started before that, outside.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { placesOf } from '@backlot/contract/places'
import { endXServer } from '@backlot/headless'
import { readRegularFile } from '@backlot/native/regular-file'
import { supervisedHere } from '../processes.ts'
import { findProgram, installing } from '../programs.ts'
import { removeTree, type SandboxFolder } from '../state/folder.ts'
import type { RunRecord } from '../state/record.ts'
import { etcOfPrograms, foldersOfPrograms } from './host-programs.ts'
import type { IsolationLevel } from './level.ts'
import { commandAtHome, inGroups, serverWords, variablesAtHome, type WithoutNamespaces } from './unisolated.ts'

/** What is said of it wherever it is told. */
export const landlockWarning =
  'It has no namespaces: its programs see the names of files and processes of this machine, call it over UDP, and TCP ports 53, 80 and 443 alone, those of this machine too; they call sockets at paths that everybody may call, and the buses of other sandboxes of this level of the same user. /tmp, /dev/shm and terminals are closed to them.'

/** Of the internet: names, pages, and pages that are encrypted. All others are closed because this machine has them too. */
const ports = [53, 80, 443]

/** Files of `/etc` beside those that programs of the host need, which a sandbox in namespaces has of its own. */
const ownEtc = ['passwd', 'group', 'hosts', 'hostname', 'nsswitch.conf', 'resolv.conf', 'machine-id']

/** Terminals are not among them: those of its own cannot be told from others of the same user, who types there. */
const devices = ['null', 'zero', 'full', 'random', 'urandom']

/** Folders for sockets where the one of this user is called by too long a path. */
const shortFolders = '/tmp/backlot-l-'

/**
 * Bytes of the longest folder in which the accessibility bus of a desktop has its socket: where its path takes more than 99,
 * at-spi-bus-launcher puts it into /tmp, which is closed.
 */
const longestRuntime = 31

/** Where the folders for sockets are, by how their paths begin: the usual ones, and those that are called by short paths. */
const prefixes = (): [usual: string, short: string] => [join(placesOf(process.env).runtime, 'l-'), shortFolders]

/** A folder for sockets, whose paths are short: of this sandbox alone, and gone after each run. */
const runtimeFolder = (folder: SandboxFolder): string => {
  const [usual, short] = prefixes()
  const hash = new Bun.CryptoHasher('sha256').update(`${process.geteuid?.()} ${folder.origin}`).digest('base64url')
  const path = `${usual}${hash.slice(0, 6)}`
  return Buffer.byteLength(path) <= longestRuntime ? path : `${short}${hash.slice(0, 8)}`
}

/** Whether it is a folder that belongs to this user alone: in /tmp another one may have put something in its place. */
const isOurs = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0
}

/** Whose a folder for sockets is: the supervisor of its run, and the folder of its sandbox. */
interface RuntimeOwner extends Pick<RunRecord, 'boot' | 'namespace' | 'supervisor'> {
  readonly origin: string
}

const ownerFile = 'owner.json'
/** A path of 4096 bytes, each of which JSON may write as six, and numbers. */
const mostOwnerBytes = 32_768

const makeRuntime = (path: string, origin: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
  if (!isOurs(path)) {
    throw new Failure('sandbox_not_started', `"${path}" is no folder of this user alone; remove it.`)
  }
  writeFileSync(join(path, ownerFile), JSON.stringify({ ...supervisedHere(), origin } satisfies RuntimeOwner))
}

/** Null for what says it of nobody: the programs of the sandbox may write there. */
const readOwner = (path: string): RuntimeOwner | null => {
  try {
    const owner = JSON.parse(readRegularFile(join(path, ownerFile), mostOwnerBytes)) as Partial<RuntimeOwner> | null
    const isWhole = typeof owner?.supervisor?.pid === 'number' && typeof owner.origin === 'string'
    return isWhole ? (owner as RuntimeOwner) : null
  } catch {
    return null
  }
}

/** The folders for sockets of this user that say whose they are. */
export const runtimeFolders = (): { readonly path: string; readonly owner: RuntimeOwner }[] =>
  prefixes().flatMap((prefix) => {
    const parent = dirname(prefix)
    const paths = existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : []
    return paths
      .filter((path) => path.startsWith(prefix) && isOurs(path))
      .map((path) => ({ path, owner: readOwner(path) }))
      .filter((each): each is { path: string; owner: RuntimeOwner } => each.owner !== null)
  })

/** What `backlot local confined` is told. */
export interface Confinement {
  /** Pid of the process that starts it. */
  readonly supervisor: number
  /** The folder that leads to the X server. */
  readonly runtime: string
  readonly size: string
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  readonly ports: readonly number[]
  /** Where the command begins, and what differs in its environment. */
  readonly folder: string
  readonly variables: Readonly<Record<string, string>>
}

/** The command line, which says the pid of the first process. */
export const landlockWords = (
  run: WithoutNamespaces,
  cgroups: readonly string[],
  { port, mark }: { readonly port: number; readonly mark: string },
): [string, ...string[]] => {
  const { folder, record, executable } = run
  const runtime = runtimeFolder(folder)
  makeRuntime(runtime, folder.origin)
  const [home, temporary] = [folder.at('files', 'home'), folder.at('files', 'var', 'tmp')]
  const confinement: Confinement = {
    supervisor: process.pid,
    runtime,
    folder: home,
    variables: { HOME: home, XDG_RUNTIME_DIR: runtime, TMPDIR: temporary, BUN_TMPDIR: temporary },
    size: record.size,
    readable: [
      '/usr',
      ...foldersOfPrograms.map((name) => `/${name}`),
      ...[...etcOfPrograms, ...ownEtc].map((name) => `/etc/${name}`),
      '/var/cache/fontconfig',
      '/proc',
      ...executable.parts.map(({ source }) => source),
      // Bun looks for a module in the list of its folder.
      ...Object.values(variablesAtHome(executable)).map((path) => dirname(path)),
    ],
    writable: [folder.files, folder.share, runtime, ...devices.map((name) => `/dev/${name}`)],
    ports,
  }
  const words = [...commandAtHome(executable), 'local', 'confined', mark, JSON.stringify(confinement)]
  return inGroups(cgroups, [...words, ...serverWords(run, port), '--x-server', runtime])
}

/**
 * The variables of what comes before it is confined, which reads nothing of the sandbox's: its programs could have left it
 * settings there.
 */
export const landlockVariables = ({ executable }: WithoutNamespaces): Record<string, string> => ({
  HOME: '/',
  XDG_RUNTIME_DIR: '/',
  ...variablesAtHome(executable),
})

/** Ends the X server of a run that is over, and removes what it had outside the sandbox's folder. */
export const endLandlock = async (folder: SandboxFolder): Promise<void> => {
  const runtime = runtimeFolder(folder)
  if (isOurs(runtime)) await endRuntime(runtime)
}

/** Ends the X server to which a folder for sockets leads, and removes the folder. */
export const endRuntime = async (path: string): Promise<void> => {
  await endXServer(path)
  await removeTree(path)
}

const xSockets = '/tmp/.X11-unix/'

/** The lines of a file; none where it cannot be read. */
const linesIn = (path: string): string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** Paths of the sockets that somebody listens on (proc(5)). */
const listening = (): string[] =>
  linesIn('/proc/net/unix').flatMap((line) => {
    const [, , , flags, , , , path] = line.split(/\s+/)
    return flags === '00010000' && path?.startsWith('/') ? [path] : []
  })

/** Entries of folders of sockets, which may be those of another network. */
const placed = (): string[] =>
  ['/run', '/run/user', `/run/user/${process.geteuid?.()}`].flatMap((folder) => {
    try {
      return readdirSync(folder).map((name) => join(folder, name))
    } catch {
      return []
    }
  })

/** What is mounted where: a socket may be (proc(5)). */
const mounted = (): string[] => linesIn('/proc/self/mountinfo').flatMap((line) => line.split(' ')[4] ?? [])

/** Whether it is a socket that this user may call by being who they are, and not because everybody may. */
const isOwn = (path: string): boolean => {
  try {
    const { mode, uid, gid } = statSync(path)
    if ((mode & 0o170_000) !== 0o140_000) return false
    if (uid === process.geteuid?.()) return true
    return (mode & 0o020) !== 0 && (mode & 0o002) === 0 && (process.getgroups?.() ?? []).includes(gid)
  } catch {
    return false
  }
}

/**
 * A socket by which a program would have another one act for it outside: Landlock keeps nobody from calling what stands at
 * a path. X servers ask for a key, and so do the computer servers of other sandboxes.
 */
const wayOut = (base: string): string | undefined => {
  const ours = [xSockets, `${base}/`, ...prefixes()]
  const all = new Set([...listening(), ...placed(), ...mounted()])
  return [...all].find((path) => !ours.some((prefix) => path.startsWith(prefix)) && isOwn(path))
}

/** Whether the level works here. */
export const landlockLevel = async (base: string): Promise<Omit<IsolationLevel, 'level'>> => {
  if (findProgram('setpriv') === null) {
    return { works: false, reason: 'The program "setpriv" is not installed.', remedy: installing('setpriv') }
  }
  const { hasLandlock } = await import('@backlot/native')
  if (!hasLandlock()) {
    const reason =
      'This kernel has no Landlock that keeps signals and sockets apart, as Linux 6.12 has (version 6 of it).'
    return { works: false, reason, remedy: null }
  }
  const socket = wayOut(base)
  if (socket !== undefined) {
    const reason = `Landlock keeps no program from "${socket}", where another one acts for this user.`
    return { works: false, reason, remedy: null }
  }
  const reason =
    "Only for who accepts it, by --isolation landlock: programs of this machine, kept by Landlock to files of their own. Such sandboxes of one user can call each other's buses."
  return { works: true, reason, remedy: null }
}
