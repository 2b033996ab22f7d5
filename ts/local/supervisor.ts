/** One run of a sandbox, from its start to its end, with the process that looks after it. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { infoOf, type SandboxInfo } from './info.ts'
import { bwrapCommand, inside, isRoot, type SharedPath } from './isolation/entering.ts'
import { hostPrograms } from './isolation/host-programs.ts'
import { endLandlock, landlockVariables, landlockWords } from './isolation/landlock.ts'
import { refuseUnavailable } from './isolation/levels.ts'
import { makeLimits, removeLimits } from './isolation/limits.ts'
import { inGroups, serverWords, socketWithoutNamespaces, unisolatedVariables } from './isolation/unisolated.ts'
import { makeShare, refuseLinks, sharedPathsOf } from './making.ts'
import { type Forwarder, startForwarder } from './network/forwarder.ts'
import { connectToInternet, type NetworkCarrier } from './network/network.ts'
import { withAllIds } from './own-root/all-ids.ts'
import { ownFiles, rootInside } from './own-root/entering.ts'
import { sessionFolder } from './own-root/recipe-files.ts'
import { rootAt } from './own-root/roots.ts'
import { endNamespace, isFrozen, pidNamespaceOf, processRecord, supervisedHere } from './processes.ts'
import { removeTree, type SandboxFolder } from './state/folder.ts'
import { logAt } from './state/log.ts'
import { type RunRecord, type SandboxRecord, writeRecord } from './state/record.ts'

/** The executable as it is seen in a sandbox. */
export interface Executable {
  readonly command: readonly [string, ...string[]]
  /** Files and folders of the host that it is made of, each seen at its own path or at another one. */
  readonly parts: readonly { readonly source: string; readonly path: string }[]
  /** Variables that it needs. */
  readonly variables: Readonly<Record<string, string>>
}

/** A sandbox that runs. */
export interface RunningSandbox extends AsyncDisposable {
  readonly info: SandboxInfo
  /** Settles when its programs have ended, with how. */
  readonly ended: Promise<string>
}

/** What a run is started from. */
export interface RunOptions {
  readonly folder: SandboxFolder
  readonly record: SandboxRecord
  readonly executable: Executable
  /** Milliseconds until it must be ready. */
  readonly timeoutMs: number
  /** Ends a start that is under way. */
  readonly signal: AbortSignal
}

/**
 * Starts a sandbox whose files are there, and settles when its computer server is ready. It ends with this process.
 * Throws `sandbox_not_started` or `cancelled`, and then nothing of it runs.
 */
export const startSandbox = async (options: RunOptions): Promise<RunningSandbox> => {
  const { folder, record } = options
  await using opening = new AsyncDisposableStack()
  const log = logAt(folder)
  let run: RunRecord | null = null
  const forwarder = opening.use(await startForwarder(() => isOpen(folder, run)))
  // Before anything is made outside of its folder, and until that is gone: who looks next ends by it what is left.
  run = { ...supervisedHere(), mark: randomBytes(16).toString('hex'), init: null, port: forwarder.port }
  writeRecord(folder.run, run)
  opening.defer(() => rmSync(folder.run, { force: true }))
  const limits = makeLimits(folder.origin, record)
  opening.defer(() => removeLimits(folder.origin))
  refuseLinks(folder, record)
  await removeTree(folder.share)
  const key = readFileSync(folder.key, 'utf8').trim()
  makeShare(folder, key)
  const child = spawnPrograms(options, limits.files, run)
  let carrier: NetworkCarrier | undefined
  opening.defer(async () => {
    carrier?.end()
    if (run?.init == null) {
      // Not found by its arguments: the kernel shows none of a program that just begins.
      child.kill('SIGKILL')
      await child.exited
    }
    if (run !== null) await endNamespace(run)
    await child.exited
    await endLandlock(folder)
  })
  const output = watch(child, log, hasNamespaces(record) ? socketUrl : socketWithoutNamespaces(folder))
  const giveUp = failing(options, child, log)
  const init = await Promise.race([output.init, giveUp]).catch((error) => explained(error, options))
  run = { ...run, init: recordOf(init) }
  writeRecord(folder.run, run)
  carrier = await Promise.race([carrierOf(record, init, log), giveUp])
  await Promise.race([output.listening, giveUp])
  await Promise.race([forwarder.leadTo(`${folder.share}/computer`, claimOf(record)), giveUp])
  await Promise.race([readyAt(forwarder, key, options.signal), giveUp])
  const opened = opening.move()
  const ended = child.exited.then(() => howIt(child))
  return {
    info: infoOf({ ...record, warnings: [...record.warnings, ...limits.warnings] }, run, key),
    ended,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const spawnPrograms = (options: RunOptions, cgroups: readonly string[], run: RunRecord): Child => {
  const { words, variables } = entryOf(options, cgroups, run)
  return Bun.spawn(words, {
    cwd: '/',
    // Not in its arguments, which every user of the host reads.
    env: { ...variablesOf(options), ...variables },
    // It ends with this process, also where that dies before bwrap has asked the kernel for the same.
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** What carries the network of a sandbox in namespaces of its own, where it reaches the internet. */
const carrierOf = async (record: SandboxRecord, init: number, log: ReturnType<typeof logAt>) =>
  record.network === 'internet' && hasNamespaces(record)
    ? connectToInternet(init, record.isolation === 'own-root', (bytes) =>
        log.say(new TextDecoder().decode(bytes).trim()),
      )
    : undefined

/** Whether who calls is let in: while files are copied, to wait until the programs go on. */
const isOpen = (folder: SandboxFolder, run: RunRecord | null): boolean =>
  run !== null && run.init !== null && (!isFrozen(run.init) || folder.readRun()?.is_copied === true)

/** The socket of an ordinary user's own root belongs to user 0 of that, and to its caller from here on. */
const claimOf =
  ({ isolation }: SandboxRecord) =>
  async (descriptor: number) => {
    if (isolation !== 'own-root' || isRoot()) return
    const words = [...withAllIds(), 'chown', '0:0', '/proc/self/fd/0']
    const child = Bun.spawn(words, { cwd: '/', stdin: descriptor, stdout: 'ignore', stderr: 'pipe' })
    const [errors, status] = await Promise.all([child.stderr.text(), child.exited])
    if (status === 0) return
    throw new Failure('sandbox_not_started', `The socket of the sandbox cannot be called: ${errors.trim()}`)
  }

const hasNamespaces = ({ isolation }: SandboxRecord): boolean => isolation !== 'landlock' && isolation !== 'none'

/** What is started, and its variables beside those that all sandboxes have. */
const entryOf = (options: RunOptions, cgroups: readonly string[], run: RunRecord) => {
  if (hasNamespaces(options.record)) return { words: wordsOf(options, cgroups, run), variables: {} }
  const user = { USER: userInfo().username }
  if (options.record.isolation === 'landlock') {
    return { words: landlockWords(options, cgroups, run), variables: { ...landlockVariables(options), ...user } }
  }
  const words = inGroups(cgroups, serverWords(options, run.port))
  return { words, variables: { ...unisolatedVariables(options), ...user } }
}

/** Where namespaces do not work here at all, that is told rather than how one sandbox met it. */
const explained = async (error: unknown, { folder, record: { isolation } }: RunOptions): Promise<never> => {
  if (Failure.from(error).code === 'sandbox_not_started') await refuseUnavailable(folder.base, isolation)
  throw error
}

const wordsOf = ({ folder, record, executable }: RunOptions, cgroups: readonly string[], { mark, port }: RunRecord) => {
  mkdirSync(folder.at('stage'), { recursive: true })
  const session = sessionOf(folder, record)
  const shown = [
    ...sharedPathsOf(folder, record),
    ...session,
    ...executable.parts.map((part) => ({ ...part, isWritable: false })),
  ]
  return bwrapCommand({
    stage: folder.at('stage'),
    user: folder.user,
    cgroups,
    disk: record.disk_gb !== null && isRoot() ? { image: folder.at('disk.img'), folder: folder.files } : null,
    ownRoot: ownRootOf(folder, record),
    shown,
    before: record.root_version === null ? hostPrograms() : ownFiles(),
    after: [
      ...['--perms', '0700', '--dir', runtimeFolderOf(record)],
      ...(record.root_version === null ? ['--remount-ro', '/'] : []),
      ...['--hostname', record.name, '--setenv', 'BACKLOT_SANDBOX', mark, '--chdir', userOf(record).home],
    ],
    command: [
      ...[...executable.command, 'computer', '--desktop', '--size', record.size],
      ...['--listen', socketUrl, '--forwarded-port', String(port), '--key-file', '/run/backlot/key'],
      ...['--until-input-ends', ...session.flatMap(({ path }) => ['--session', path])],
    ],
  })
}

/** The root that a sandbox has of its own; null where it has the host's. */
const ownRootOf = (folder: SandboxFolder, { root_version }: SandboxRecord) =>
  root_version === null
    ? null
    : {
        lowers: [rootAt(folder.base, root_version)],
        files: folder.files,
        given: [folder.share, join(folder.share, 'key')],
      }

/** What the desktop of an own root shows beside its windows, as it was built: a sandbox may spoil its own copy. */
const sessionOf = (folder: SandboxFolder, { root_version }: SandboxRecord): SharedPath[] => {
  if (root_version === null) return []
  const source = join(rootAt(folder.base, root_version), sessionFolder)
  return existsSync(source) ? [{ source, path: '/run/backlot-session', isWritable: false }] : []
}

/** The whole environment of the sandbox's programs. */
const variablesOf = ({ record, executable }: RunOptions): Record<string, string> => ({
  PATH: `${record.root_version === null ? '' : '/usr/local/sbin:/usr/sbin:/sbin:'}/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games`,
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  ...record.env,
  HOME: userOf(record).home,
  USER: userOf(record).name,
  LOGNAME: userOf(record).name,
  XDG_RUNTIME_DIR: runtimeFolderOf(record),
  ...executable.variables,
})

const socketUrl = 'unix:/run/backlot/computer'

/** The user that the sandbox's programs are inside. */
const userOf = ({ root_version }: SandboxRecord) => (root_version === null ? inside : rootInside)

const runtimeFolderOf = (record: SandboxRecord): string => `/run/user/${userOf(record).uid}`

type Child = Bun.Subprocess<'pipe', 'pipe', 'pipe'>

/**
 * Writes what the sandbox says to its log. `init` settles with the pid of the first process of its own namespace, which
 * bwrap says, and `listening` when its computer server has said where it listens.
 */
const watch = (child: Child, log: ReturnType<typeof logAt>, socket: string) => {
  const init = Promise.withResolvers<number>()
  const listening = Promise.withResolvers<void>()
  const read = async () => {
    let text = ''
    for await (const bytes of child.stdout) {
      // Nothing else is said there but by who has nothing to say.
      text = `${text}${new TextDecoder().decode(bytes)}`.slice(-4096)
      const [, pid] = /"child-pid":\s*(\d+)/.exec(text) ?? []
      if (pid !== undefined) init.resolve(Number(pid))
      if (text.includes(`${socket}\n`)) listening.resolve()
    }
  }
  void read()
  void log.follow(child.stderr)
  return { init: init.promise, listening: listening.promise }
}

const howIt = ({ exitCode, signalCode }: Child): string =>
  signalCode === null ? `status ${exitCode}` : `signal ${signalCode}`

/** Rejects when the sandbox has ended, the time is over, or the caller has had enough. */
const failing = ({ folder, signal, timeoutMs }: RunOptions, child: Child, log: ReturnType<typeof logAt>) => {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  const fail = (text: string) =>
    reject(
      new Failure('sandbox_not_started', `The sandbox "${folder.name}" did not start: ${text}`, { name: folder.name }),
    )
  void child.exited.then(() => {
    log.say(`ended with ${howIt(child)}`)
    fail(`its programs ended with ${howIt(child)}: ${lastLines(folder.log)}`)
  })
  const timer = setTimeout(
    () => fail(`it was not ready after ${timeoutMs} ms; try again when the machine is less busy.`),
    timeoutMs,
  )
  timer.unref()
  const cancel = () => reject(new Failure('cancelled', `The start of "${folder.name}" was cancelled; start it again.`))
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  return promise
}

const lastLines = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim().split('\n').slice(-4).join(' | ')
  } catch {
    return 'its log cannot be read'
  }
}

const recordOf = (pid: number): RunRecord['init'] => {
  const record = processRecord(pid)
  const namespace = pidNamespaceOf(pid)
  if (record === null || namespace === null) {
    throw new Failure('sandbox_not_started', 'The first process of the sandbox ended at once; look at its log.')
  }
  return { ...record, namespace }
}

/** Settles when the computer can be used: its server answers a command when its desktop is there. */
const readyAt = async ({ port }: Forwarder, key: string, signal: AbortSignal): Promise<void> => {
  const answer = await fetch(`http://127.0.0.1:${port}/cmd`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ command: 'get_screen_size' }),
    signal,
  })
  const text = await answer.text()
  if (answer.ok && text.includes('"success":true')) return
  throw new Failure('sandbox_not_started', `The desktop of the sandbox did not start: ${text.slice(0, 400).trim()}`)
}
