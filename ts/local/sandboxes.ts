/** The sandboxes of this user: made, found, ended, halted and continued. */

import { readFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import type { FileLock } from '@backlot/native'
import { infoOf, type SandboxInfo, type SandboxState, stateOf, statusOf } from './info.ts'
import { isRoot } from './isolation/entering.ts'
import { landlockWarning } from './isolation/landlock.ts'
import type { LevelName } from './isolation/level.ts'
import { levelNames } from './isolation/level.ts'
import { findLevels, refuseUnavailable } from './isolation/levels.ts'
import { refuseNamespaceOptions, unisolatedWarning } from './isolation/unisolated.ts'
import { makeSandbox, refuseMounts } from './making.ts'
import { refuseNetwork } from './network/network.ts'
import { findIds, idsHere } from './own-root/ids.ts'
import { recipeOf } from './own-root/recipe.ts'
import { hasRoot } from './own-root/roots.ts'
import { haltPrograms, isAlive, signal, thaw } from './processes.ts'
import { refuseOtherRoot, restoreFiles } from './snapshots/snapshots.ts'
import type { FilesSource } from './snapshots/store.ts'
import { SandboxFolder as Folder, type SandboxFolder, sandboxFolders, sandboxNotFound } from './state/folder.ts'
import { lock, locked } from './state/locking.ts'
import { newName, sandboxName } from './state/name.ts'
import type { Mount, Network, SandboxRecord } from './state/record.ts'
import { writeRecord } from './state/record.ts'
import { endRun, sweep } from './sweeping.ts'

/** What a new sandbox shall be. */
export interface NewSandbox {
  /** Two words and a number when absent. */
  readonly name: string | undefined
  readonly ephemeral: boolean
  /** The weakest isolation to accept. */
  readonly isolation: LevelName
  readonly network: Network
  readonly mounts: readonly Mount[]
  readonly cpu: number | null
  readonly memoryMb: number | null
  readonly diskGb: number | null
  /** Pixels of the screen: `1280x800`. */
  readonly size: string
  readonly labels: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly ttlMs: number | null
  /** The distribution that is asked for, such as `ubuntu`; null where any will do. */
  readonly wantedDistro: string | null
  /** Whether another distribution is refused rather than told of. */
  readonly isStrict: boolean
  /** Whether it is to have no isolation at all, which only who says so gets. */
  readonly isUnisolated: boolean
  /** The files that it begins with, with the variables that belong to them; null for its first ones. */
  readonly source: FilesSource | null
}

/** A sandbox whose files are there, and which nobody else can change until the lock is released. */
export interface MadeSandbox {
  readonly folder: SandboxFolder
  readonly record: SandboxRecord
  readonly lock: FileLock
}

/** The version of the own root that a new sandbox gets: where one is built, it is the strongest isolation. */
export const rootFor = (base: string): string | null => {
  const { version } = recipeOf()
  return findIds() !== null && hasRoot(base, version) ? version : null
}

const refuseIsolation = (weakest: LevelName, root: string | null): void => {
  const builtLevel: LevelName = root === null ? 'host-programs' : 'own-root'
  if (levelNames.indexOf(weakest) >= levelNames.indexOf(builtLevel)) return
  throw new Failure(
    'unsupported',
    `The strongest isolation that sandboxes have here is "${builtLevel}", and "${weakest}" was asked for. \`backlot local levels\` says why.`,
    { isolation: weakest },
  )
}

/**
 * The weakest isolation that a sandbox of a pool has: without namespaces its programs would know their files by the name
 * that it has before it is claimed. Throws `unsupported` for one that no sandbox gets here.
 */
export const isolationOfPool = (base: string, { isolation, isUnisolated }: NewSandbox): LevelName => {
  if (isUnisolated) {
    const text = 'Desktops without namespaces are not kept ready; start one when it is needed.'
    throw new Failure('unsupported', text, { isolation: 'none' })
  }
  refuseIsolation(isolation, rootFor(base))
  return isolation === 'own-root' ? isolation : 'host-programs'
}

/**
 * What parts a new sandbox from its host: the strongest that there is. Whether namespaces work is found out for those
 * alone who accept less; all others learn it from the start.
 */
const levelOf = async (base: string, wanted: NewSandbox, root: string | null): Promise<LevelName> => {
  if (wanted.isUnisolated) return 'none'
  refuseIsolation(wanted.isolation, root)
  if (root !== null) return 'own-root'
  if (levelNames.indexOf(wanted.isolation) <= levelNames.indexOf('host-programs')) return 'host-programs'
  const working = (await findLevels(base)).find(({ level, works }) => works && level !== 'own-root' && level !== 'none')
  return working?.level ?? 'host-programs'
}

/** Makes the files of a sandbox. Throws `sandbox_exists`, `sandbox_busy`, `invalid_argument`, `unsupported`. */
export const createSandbox = async (base: string, wanted: NewSandbox): Promise<MadeSandbox> => {
  const name = wanted.name === undefined ? freeName(base) : sandboxName(wanted.name)
  const root = wanted.isUnisolated ? null : wanted.source === null ? rootFor(base) : wanted.source.rootVersion
  if (root !== null && !hasRoot(base, root)) throw rootGone(root)
  if (wanted.source !== null) refuseOtherRoot(wanted.source, root, root === null ? 0 : idsHere().uid)
  const level = await levelOf(base, wanted, root)
  if (level === 'landlock' || level === 'none') refuseNamespaceOptions(level, wanted)
  else {
    try {
      refuseNetwork(wanted.network)
    } catch (error) {
      // Who has no namespaces needs to hear of that first.
      await refuseUnavailable(base, level)
      throw error
    }
  }
  const folder = new Folder(base, name)
  refuseMounts(wanted.mounts, root === null ? folder.user : idsHere().uid)
  if (wanted.isStrict) refuseOtherDistro(wanted, root)
  await sweep(base)
  const held = await lock(folder)
  try {
    if (folder.exists) {
      throw new Failure('sandbox_exists', `There is a sandbox "${name}" already; take another name, or delete it.`, {
        name,
      })
    }
    const record = recordOf(folder, wanted, level, root)
    await makeSandbox(folder, record, wanted.source)
    // Another program may have removed it before there was a sandbox that has it.
    if (root !== null && !hasRoot(base, root)) throw rootGone(root)
    return { folder, record, lock: held }
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'sandbox_exists') await folder.remove()
    held.release()
    throw error
  }
}

const rootGone = (version: string): Failure =>
  new Failure(
    'sandbox_not_started',
    `There is no root ${version} any more; build one (backlot local build) and start a sandbox in that.`,
  )

const freeName = (base: string): string => {
  let name = newName()
  while (new Folder(base, name).exists) name = newName()
  return name
}

const recordOf = (
  { name, path }: SandboxFolder,
  wanted: NewSandbox,
  isolation: LevelName,
  root: string | null,
): SandboxRecord => {
  const now = Date.now()
  const hasDisk = wanted.diskGb === null || isRoot()
  return {
    name,
    origin: path,
    ephemeral: wanted.ephemeral,
    isolation,
    root_version: root,
    network: wanted.network,
    mounts: wanted.mounts,
    cpu: wanted.cpu,
    memory_mb: wanted.memoryMb,
    disk_gb: wanted.diskGb,
    size: wanted.size,
    env: wanted.env,
    labels: wanted.labels,
    created_at: new Date(now).toISOString(),
    expires_at: wanted.ttlMs === null ? null : new Date(now + wanted.ttlMs).toISOString(),
    warnings: [
      ...(isolation === 'none' ? [unisolatedWarning] : []),
      ...(isolation === 'landlock' ? [landlockWarning] : []),
      ...otherDistro(wanted, root),
      ...(hasDisk ? [] : ['The disk is not limited: only root can mount one of a size.']),
    ],
    ...systemOf(root),
    is_whole: false,
  }
}

/** What differs in the distribution, in a sentence. */
const otherDistro = ({ wantedDistro }: NewSandbox, root: string | null): string[] => {
  const { distro, version } = systemOf(root)
  if (wantedDistro === null || wantedDistro === distro) return []
  if (root !== null) return [`Its root is of ${distro} ${version}, rather than ${wantedDistro}.`]
  return [`It has the programs of this machine, which runs ${distro} ${version}, rather than ${wantedDistro}.`]
}

const refuseOtherDistro = (wanted: NewSandbox, root: string | null): void => {
  const [difference] = otherDistro(wanted, root)
  if (difference === undefined) return
  throw new Failure('unsupported', `${difference} Leave "strict" out, or use another runtime.`, {
    distro: wanted.wantedDistro,
  })
}

/** The distribution whose programs the sandbox has. */
const systemOf = (root: string | null): Pick<SandboxRecord, 'distro' | 'version'> => {
  if (root !== null) return { distro: 'debian', version: '12' }
  let text = ''
  try {
    text = readFileSync('/etc/os-release', 'utf8')
  } catch {}
  const valueIn = (name: string) => new RegExp(`^${name}="?([^"\\n]*)"?$`, 'm').exec(text)?.[1] ?? ''
  return { distro: valueIn('ID') || 'linux', version: valueIn('VERSION_ID') }
}

/** Says of a sandbox that it has been ready: from now on it is there. */
export const markWhole = ({ folder, record }: Pick<MadeSandbox, 'folder' | 'record'>, info: SandboxInfo): void =>
  writeRecord(folder.record, { ...record, warnings: info.warnings, is_whole: true } satisfies SandboxRecord)

/** The folder of a sandbox that is there; throws `invalid_argument` or `sandbox_not_found`. */
export const findSandbox = (base: string, name: string): SandboxFolder => {
  const folder = new Folder(base, sandboxName(name))
  if (folder.readRecord()?.is_whole !== true) throw sandboxNotFound(name)
  return folder
}

/** What is known of all sandboxes, newest first. */
export const listSandboxes = async (base: string): Promise<SandboxState[]> => {
  await sweep(base)
  return sandboxFolders(base)
    .flatMap((folder) => {
      const record = folder.readRecord()
      return record === null ? [] : [stateOf(record, folder.readRun())]
    })
    .toSorted((one, other) => other.created_at.localeCompare(one.created_at))
}

/** What is known of one, with the way to reach it where it runs. */
export const sandboxStateOf = (folder: SandboxFolder): SandboxState | SandboxInfo => {
  const record = recordIn(folder)
  const run = folder.readRun()
  const status = statusOf(record, run)
  if (run === null || (status !== 'running' && status !== 'suspended')) return stateOf(record, run)
  return infoOf(record, run, readFileSync(folder.key, 'utf8').trim())
}

const recordIn = (folder: SandboxFolder): SandboxRecord => {
  const record = folder.readRecord()
  if (record === null) throw sandboxNotFound(folder.name)
  return record
}

/** Milliseconds that a supervisor has to end its sandbox, until it is killed, and the sandbox with it. */
const graceMs = 10_000

const endSupervised = async (folder: SandboxFolder): Promise<void> => {
  const run = folder.readRun()
  if (run !== null) {
    signal(run.supervisor, 'SIGTERM')
    const deadline = performance.now() + graceMs
    while (isAlive(run.supervisor)) {
      if (performance.now() > deadline) signal(run.supervisor, 'SIGKILL')
      await Bun.sleep(2)
    }
  }
  await endRun(folder)
}

/** Ends the programs of a sandbox. Its files stay; those of an ephemeral one go with it. */
export const stopSandbox = (folder: SandboxFolder): Promise<void> =>
  locked(folder, async () => {
    const { ephemeral } = recordIn(folder)
    await endSupervised(folder)
    if (ephemeral) await folder.remove()
  })

/** Ends a sandbox and removes all of it. */
export const deleteSandbox = (folder: SandboxFolder): Promise<void> =>
  locked(folder, async () => {
    await endSupervised(folder)
    await folder.remove()
  })

const notRunning = (name: string, status: string): Failure =>
  new Failure('sandbox_not_running', `The sandbox "${name}" is ${status}; continue it: backlot local resume ${name}`, {
    name,
    status,
  })

/** Halts all programs of a sandbox where they are, until it is continued or the machine restarts. */
export const suspendSandbox = (folder: SandboxFolder): Promise<void> =>
  locked(folder, async () => {
    const run = folder.readRun()
    const status = statusOf(recordIn(folder), run)
    if (status === 'suspended') return
    if (status !== 'running' || run?.init == null) throw notRunning(folder.name, status)
    await haltPrograms(folder.name, run.init)
  })

/** Ends the programs of a sandbox and gives it other files; the caller holds its lock. Throws `unsupported`. */
export const restoreSandbox = async (folder: SandboxFolder, source: FilesSource): Promise<void> => {
  const record = recordIn(folder)
  if (record.ephemeral) {
    throw new Failure(
      'unsupported',
      `"${folder.name}" ends with the program that started it, so that its files cannot be put back; start a sandbox from the snapshot.`,
      { name: folder.name },
    )
  }
  await restoreFiles(folder, record, source, () => endSupervised(folder))
}

/** Lets the programs of a suspended sandbox go on; gives what it is then, `stopped` where it has none. */
export const continueSandbox = (folder: SandboxFolder): SandboxState | SandboxInfo => {
  const run = folder.readRun()
  if (statusOf(recordIn(folder), run) === 'suspended' && run?.init != null) thaw(run.init)
  return sandboxStateOf(folder)
}
