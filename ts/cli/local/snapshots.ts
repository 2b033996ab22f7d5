/** `backlot local snapshot`, `snapshots`, `delete-snapshot`, `restore` and `fork`: the files of sandboxes, saved and copied. */

import { Failure } from '@backlot/contract/failure'
import { privateDesktop } from '@backlot/contract/limits'
import {
  createSandbox,
  deleteSandbox,
  deleteSnapshot,
  type FilesSource,
  filesOf,
  findSandbox,
  findSnapshot,
  listSnapshots,
  locked,
  type NewSandbox,
  restoreSandbox,
  SandboxFolder,
  type SandboxInfo,
  type SandboxRecord,
  type StartWatcher,
  sandboxesFolder,
  snapshotInfo,
  snapshotsFolder,
  sweep,
  takeFiles,
  takeSnapshot,
} from '@backlot/local'
import { readFlags } from '../flags.ts'
import { print, printJson } from '../terminal/output.ts'
import { startProgress } from '../terminal/progress.ts'
import { isTerminal, table } from '../terminal/table.ts'
import { startDetached } from './detached.ts'
import type { LocalVerb } from './local-verb.ts'
import { startSupervisor } from './start.ts'
import { inputEnds } from './supervise.ts'

const found = async (name: string): Promise<SandboxFolder> => {
  const base = sandboxesFolder()
  await sweep(base)
  return findSandbox(base, name)
}

const usage = (text: string): Failure => new Failure('usage', `${text}. \`backlot local --help\` shows what it takes.`)

/** A process of its own that ends at nothing but the end of this one, so that no program stays halted for ever. */
export const startWatcher: StartWatcher = (name) => {
  const child = startDetached(['go-on', name], 'pipe')
  return {
    async end() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** Ends what another had begun with the sandbox, when that has died: nobody calls it but `startWatcher`. */
const goOn: LocalVerb = async ([name = '']) => {
  await inputEnds(true)
  await locked(new SandboxFolder(sandboxesFolder(), name), async () => undefined)
  return 0
}

const snapshot: LocalVerb = async (args) => {
  const { values, positionals } = readFlags('local snapshot', {
    args: [...args],
    allowPositionals: true,
    options: { name: { type: 'string' } },
  })
  const [name, ...more] = positionals
  if (name === undefined || more.length > 0) throw usage('`backlot local snapshot` needs one name')
  if (values.name === '') throw new Failure('invalid_argument', '--name is empty; give a name.', { argument: 'name' })
  using progress = startProgress()
  progress.show('copying files')
  const record = await takeSnapshot(snapshotsFolder(), await found(name), values.name ?? null, startWatcher)
  progress.show('')
  await printJson(snapshotInfo(record))
  return 0
}

const snapshots: LocalVerb = async (args) => {
  const { values } = readFlags('local snapshots', { args: [...args], options: { json: { type: 'boolean' } } })
  const all = (await listSnapshots(snapshotsFolder())).map(snapshotInfo)
  if (values.json || !isTerminal()) await printJson({ snapshots: all })
  else if (all.length === 0) await print('There are no snapshots. `backlot local snapshot NAME` takes one.')
  else
    await print(
      table(
        all.map(({ id, name, sandbox, size_bytes, created_at }) => ({ id, name, sandbox, size_bytes, created_at })),
      ),
    )
  return 0
}

const remove: LocalVerb = async (args) => {
  const { positionals } = readFlags('local delete-snapshot', { args: [...args], allowPositionals: true, options: {} })
  const [id, ...more] = positionals
  if (id === undefined || more.length > 0) throw usage('`backlot local delete-snapshot` needs one id or name')
  const store = snapshotsFolder()
  const record = await findSnapshot(store, id)
  await deleteSnapshot(store, record)
  await printJson({ id: record.id })
  return 0
}

const restore: LocalVerb = async (args) => {
  const { positionals } = readFlags('local restore', { args: [...args], allowPositionals: true, options: {} })
  const [name, id, ...more] = positionals
  if (name === undefined || id === undefined || more.length > 0) {
    throw usage('`backlot local restore` needs the name of a sandbox and the id of a snapshot')
  }
  const folder = await found(name)
  const store = snapshotsFolder()
  const source = filesOf(store, await findSnapshot(store, id))
  using progress = startProgress()
  progress.show('putting files back')
  const info = await locked(folder, async () => {
    await restoreSandbox(folder, source)
    return startSupervisor({ folder }, privateDesktop.startTimeoutMs)
  })
  progress.show('')
  await printJson(info)
  return 0
}

/** Copies that start at the same time: each takes a processor for most of a second. */
const mostAtOnce = 4

const fork: LocalVerb = async (args) => {
  const { values, positionals } = readFlags('local fork', {
    args: [...args],
    allowPositionals: true,
    options: { memory: { type: 'boolean' } },
  })
  const [name, ...copies] = positionals
  if (name === undefined) throw usage('`backlot local fork` needs the name of a sandbox')
  if (values.memory) {
    throw new Failure(
      'unsupported',
      'Programs that run are not copied: CRIU, which could, refuses processes in user namespaces. Leave --memory out to copy the files.',
      { name },
    )
  }
  const folder = await found(name)
  using progress = startProgress()
  progress.show('copying files')
  await using taken = await takeFiles(snapshotsFolder(), folder, startWatcher)
  progress.show('starting copies')
  const wanted = copies.length === 0 ? [undefined] : copies
  const infos: SandboxInfo[] = []
  try {
    for (let at = 0; at < wanted.length; at += mostAtOnce) {
      const started = await Promise.allSettled(
        wanted.slice(at, at + mostAtOnce).map((copy) => startCopy(copyOf(taken.of, copy, taken.files))),
      )
      for (const each of started) if (each.status === 'fulfilled') infos.push(each.value)
      const failed = started.find((each) => each.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
  } catch (error) {
    await Promise.all(infos.map((info) => deleteSandbox(new SandboxFolder(sandboxesFolder(), info.name))))
    throw error
  }
  progress.show('')
  await printJson({ sandboxes: infos })
  return 0
}

/** What a copy shall be: all that the sandbox is but its name, its keys and its time. */
const copyOf = (of: SandboxRecord, name: string | undefined, source: FilesSource): NewSandbox => ({
  name,
  ephemeral: false,
  isolation: of.isolation,
  network: of.network,
  mounts: of.mounts,
  cpu: of.cpu,
  memoryMb: of.memory_mb,
  diskGb: of.disk_gb,
  size: of.size,
  labels: of.labels,
  env: of.env,
  ttlMs: null,
  wantedDistro: null,
  isStrict: false,
  isUnisolated: of.isolation === 'none',
  source,
})

const startCopy = async (wanted: NewSandbox): Promise<SandboxInfo> => {
  const made = await createSandbox(sandboxesFolder(), wanted)
  try {
    return await startSupervisor(made, privateDesktop.startTimeoutMs)
  } catch (error) {
    await made.folder.remove()
    throw error
  } finally {
    made.lock.release()
  }
}

/** The verbs of snapshots by their names. */
export const snapshotVerbs: Readonly<Record<string, LocalVerb>> = {
  snapshot,
  snapshots,
  'delete-snapshot': remove,
  restore,
  fork,
  'go-on': goOn,
}
