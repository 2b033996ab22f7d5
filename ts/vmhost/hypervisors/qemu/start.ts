/** Starts QEMU for a VM. */

import { closeSync, existsSync, openSync } from 'node:fs'
import { access, mkdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { startTicksOf } from '@backlot/native/proc-stat'
import { ownDisk } from '../../disks/own-disk.ts'
import { removeUsedMemory } from '../../snapshots/saved-state.ts'
import { unlessAborted } from '../../unless-aborted.ts'
import { wordsForSeed } from '../../vms/seed.ts'
import { seedFolder, vmPath } from '../../vms/vm-directory.ts'
import type { StoredVm, VmPlace } from '../../vms/vm-store.ts'
import type { Hypervisor, RunOptions, WriteLine } from '../hypervisor.ts'
import { adopt, answersWithinMs, silent } from './adopt.ts'
import { type Accelerator, type Files, qemuArguments } from './arguments.ts'
import { withoutCapabilities } from './capabilities.ts'
import { qemuFeatures } from './features.ts'
import { QemuMachine, removeEndedRun, type Surroundings } from './machine.ts'
import { QemuMemoryImage, type Resume } from './memory-image.ts'
import { newPassword } from './password.ts'
import { reachable } from './ports.ts'
import { endingOf, lastLines } from './process/exit-cause.ts'
import { endLockHolder } from './process/lock-holder.ts'
import { killProcess, pagesDescriptor } from './process/process.ts'
import { type RunRecord, writeRun } from './process/run-record.ts'
import { failureOf } from './process/start-failures.ts'
import { isFree, type Lock, type Locks, lockAt } from './process/vm-lock.ts'
import { asUnreadable, programVersion, refuseUnreadableMemory } from './resume.ts'

/** Milliseconds that QEMU may take to open its control socket. */
const opensWithinMs = 30_000
/** How often it is started when a port that was free is taken in the same moment. */
const attempts = 3

/** What QEMU is started with. */
export interface QemuOptions extends Locks {
  /** Folder of control sockets, which is there as long as a VM may run: a session of its user that ends keeps it. */
  readonly sockets: string
  accelerator(): Promise<Accelerator>
}

/** QEMU for guests of this machine's own architecture. */
export const qemu = (options: QemuOptions): Hypervisor => ({
  name: 'qemu',
  features: qemuFeatures,

  identity: async () => `qemu ${await programVersion(findProgram())} ${await options.accelerator()}`,

  lives: ({ path }) => existsSync(vmPath(path, 'lock')) && !isFree(vmPath(path, 'lock'), options),

  async end(vm) {
    await endLockHolder(vm, () => isFree(vmPath(vm.path, 'lock'), options))
    const seen = { killed: true, asked: false }
    await removeEndedRun(vm.path, socketsOf(vm, options), endingOf(seen, undefined, ''))
  },

  start: (vm, wishes, tell, signal) => start(vm, wishes, tell, options, signal),

  async share(name, memoryBytes, saved) {
    const image = new QemuMemoryImage(name, Math.ceil(memoryBytes / 2 ** 20) * 2 ** 20)
    try {
      await image.fill(saved)
      return image
    } catch (error) {
      image[Symbol.dispose]()
      throw error
    }
  },

  adopt: (vm) => adopt(vm, options),
})

const start = async (
  vm: StoredVm,
  wishes: RunOptions,
  tell: WriteLine,
  options: QemuOptions,
  signal: AbortSignal,
): Promise<QemuMachine> => {
  await mkdir(options.sockets, { recursive: true, mode: 0o700 })
  const program = findProgram()
  const { saved } = wishes
  const version = saved === undefined ? '' : await programVersion(program)
  if (saved !== undefined) await refuseUnreadableMemory(vm, saved, version, options.accelerator)
  const accelerator = saved?.accelerator ?? (await unlessAborted(options.accelerator(), signal))
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    try {
      return await startOnce({ program, accelerator, vm, wishes, tell, options, signal }, attempt)
    } catch (error) {
      const failure = Failure.from(error)
      if (attempt + 1 >= attempts || failure.code !== 'port_in_use')
        throw saved === undefined ? error : asUnreadable(failure, vm.name, saved, version)
      tell(`starting again: ${(error as Error).message}`)
    }
  }
}

type Sockets = Pick<RunRecord, 'qmpSocket' | 'agentSocket'>

/** Named after the folder: somebody may have copied one, and the UUID with it. */
const socketsOf = ({ path }: VmPlace, { sockets }: QemuOptions): Sockets => {
  const base = join(sockets, Bun.hash(path).toString(16).padStart(16, '0'))
  return { qmpSocket: `${base}.qmp`, agentSocket: `${base}.agent` }
}

/** Files of the run before. */
const left = ['pid', 'serial', 'hypervisorLog'] as const

/** One start of a VM: what it is asked for, and by whom it is heard and cancelled. */
interface Start {
  readonly program: string
  readonly accelerator: Accelerator
  readonly vm: StoredVm
  readonly wishes: RunOptions
  readonly tell: WriteLine
  readonly options: QemuOptions
  readonly signal: AbortSignal
}

const startOnce = async (start: Start, attempt: number): Promise<QemuMachine> => {
  const { vm, options, signal } = start
  const { saved, image } = start.wishes
  const lock = lockAt(vmPath(vm.path, 'lock'), options)
  if (lock === undefined) {
    const message = `The VM "${vm.name}" is run by another process already; stop it there first.`
    throw new Failure('vm_running', message, { name: vm.name })
  }
  const { child, run } = await launch(start, lock, attempt).catch((error) => {
    lock.release()
    throw error
  })
  // From here on the child alone holds the lock.
  lock.leave()
  const { pid } = child
  const began = startTicksOf(pid) ?? 0
  const exit = child.exited.then(() => exitOf(child))
  const around: Surroundings = { isFree: (file) => isFree(file, options), exit: () => exit }
  // What waits for its answers has them at once.
  const end = () => killProcess(pid, began)
  signal.addEventListener('abort', end)
  try {
    return await answering(vm, child, run, around, signal, saved && { signal, image })
  } catch (error) {
    end()
    throw await givenUp(start, child, run, error)
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** The hypervisor's process, which takes the lock with it, and the record of its run; without one there is no record. */
const launch = async (
  { program, accelerator, vm, wishes, options, signal }: Start,
  lock: Lock,
  attempt: number,
): Promise<{ child: Bun.Subprocess; run: RunRecord }> => {
  const { name, path } = vm
  const { saved, image } = wishes
  const settings = saved === undefined ? vm.settings : { ...vm.settings, memoryBytes: saved.memoryBytes }
  // Its own words for a disk that cannot be are clearer than the hypervisor's.
  await ownDisk(vmPath(path, 'disk'))
  const run = await newRun(vm, settings, { accelerator, wishes, options, attempt })
  try {
    for (const stale of [run.qmpSocket, run.agentSocket, ...left.map((file) => vmPath(path, file))])
      await rm(stale, { force: true })
    await writeRun(path, run)
    const words = qemuArguments({
      name,
      settings,
      files: await filesOf(vm, run),
      accelerator,
      hasDisplay: wishes.hasDisplay,
      forwards: run.forwards,
      sharedDirectories: wishes.sharedDirectories,
      machineType: saved?.machineType,
      memory: image && `/proc/self/fd/${pagesDescriptor}`,
      moreWords: await wordsOf(vm),
    })
    const confined = [...withoutCapabilities(wishes.sharedDirectories.length > 0), program, ...words]
    signal.throwIfAborted()
    const kept = [lock.descriptor as number, ...(image === undefined ? [] : [image.pages])]
    return { child: spawn(confined, options.sockets, vmPath(path, 'hypervisorLog'), kept), run }
  } catch (error) {
    await rm(vmPath(path, 'run'), { force: true })
    throw error
  }
}

/** What is kept of a run that begins, with ports that are free. */
const newRun = async (
  vm: StoredVm,
  { network, uuid, ports, memoryBytes }: StoredVm['settings'],
  {
    accelerator,
    wishes: { hasDisplay, sharedDirectories, image },
    options,
    attempt,
  }: Pick<Start, 'accelerator' | 'wishes' | 'options'> & { readonly attempt: number },
): Promise<RunRecord> => {
  const found = network === 'none' ? undefined : await reachable(uuid, ports, attempt)
  return {
    hypervisor: 'qemu',
    startedAt: new Date().toISOString(),
    accelerator,
    memoryBytes,
    ipAddress: found?.address ?? null,
    forwards: [...(found?.forwards ?? [])],
    vncPassword: hasDisplay ? newPassword() : null,
    sharedDirectories: sharedDirectories.length > 0 ? [...sharedDirectories] : null,
    ...(image !== undefined && { sharesMemory: true }),
    ...socketsOf(vm, options),
  }
}

/** Why a start failed whose process was told to end, once nothing of it is left. */
const givenUp = async (
  { vm: { name, path }, tell, options, signal }: Start,
  child: Bun.Subprocess,
  run: RunRecord,
  error: unknown,
): Promise<unknown> => {
  await child.exited
  await removeUsedMemory(path).catch(() => undefined)
  const clear = async (cause: string, expected: boolean) => {
    isFree(vmPath(path, 'lock'), options)
    await removeEndedRun(path, run, { cause, expected, at: new Date().toISOString() })
  }
  if (signal.aborted) {
    await clear('Its start was cancelled.', true)
    return signal.reason
  }
  const lines = lastLines(await readFile(vmPath(path, 'hypervisorLog'), 'utf8').catch(() => ''), 20)
  for (const line of lines) tell(line)
  const failure =
    error instanceof EndedEarly
      ? failureOf(name, lines, `it ended with ${exitOf(child)}`)
      : Failure.from(error).code === 'internal'
        ? new Failure('hypervisor_failed', `The VM "${name}" did not start: ${(error as Error).message}.`, { name })
        : Failure.from(error)
  await clear(failure.message, false)
  return failure
}

class EndedEarly extends Error {}

/** The machine, as soon as its control socket answers. */
const answering = async (
  vm: StoredVm,
  child: Bun.Subprocess,
  run: RunRecord,
  around: Surroundings,
  signal: AbortSignal,
  resume?: Resume,
): Promise<QemuMachine> => {
  const deadline = performance.now() + opensWithinMs
  for (;;) {
    signal.throwIfAborted()
    if (child.exitCode !== null || child.signalCode !== null) throw new EndedEarly()
    const isOpen = await access(run.qmpSocket).then(
      () => true,
      () => false,
    )
    if (isOpen) {
      const taken = await QemuMachine.take(vm, child.pid, run, around, answersWithinMs, resume).catch(async (error) => {
        // Between binding and listening a connection is refused; one that ends has its reason in the log.
        const code = Failure.from(error).code
        if (code === 'hypervisor_unreachable') return undefined
        if (code !== 'hypervisor_lost') throw error
        await Promise.race([child.exited, Bun.sleep(2_000)])
        throw new EndedEarly()
      })
      if (taken !== undefined) return taken
    }
    if (performance.now() > deadline) throw silent(vm.name, opensWithinMs)
    await Bun.sleep(5)
  }
}

const spawn = (words: readonly string[], folder: string, log: string, kept: readonly number[]): Bun.Subprocess => {
  const output = openSync(log, 'a', 0o600)
  try {
    return Bun.spawn([...words], {
      // They get the numbers `lockDescriptor` and `pagesDescriptor`.
      stdio: ['ignore', output, output, ...kept] as ['ignore', number, number, ...number[]],
      detached: true,
      // Its sockets are named relative to it: a path may be longer than one of a socket can be.
      cwd: folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C', ...(process.env.TMPDIR && { TMPDIR: process.env.TMPDIR }) },
    })
  } finally {
    closeSync(output)
  }
}

/** What the kernel is told beside what its image says: who its guest is, and how large its desktop where it has one. */
const wordsOf = async ({ name, path, settings }: StoredVm): Promise<string | undefined> => {
  const seed = await wordsForSeed(path, { instanceId: settings.instanceId, hostName: name })
  if (!existsSync(vmPath(path, 'executable'))) return seed
  const { width, height } = settings.display
  return [...(seed === undefined ? [] : [seed]), `backlot.display=${width}x${height}`].join(' ')
}

const filesOf = async ({ path, settings }: StoredVm, run: RunRecord): Promise<Files> => {
  const there = async (file: string): Promise<boolean> =>
    access(file).then(
      () => true,
      () => false,
    )
  const kernel = vmPath(path, 'kernel')
  const initrd = vmPath(path, 'initrd')
  const executable = vmPath(path, 'executable')
  const disc = vmPath(path, 'iso')
  const seed = join(path, seedFolder)
  if (settings.iso !== undefined && !(await there(settings.iso))) {
    throw new Failure('file_not_found', `The disc image "${settings.iso}" is gone; put it back, or make the VM anew.`, {
      path: settings.iso,
    })
  }
  return {
    disk: vmPath(path, 'disk'),
    ...((await there(kernel)) && { kernel }),
    ...((await there(initrd)) && { initrd }),
    ...((await there(executable)) && { executable }),
    ...((await there(seed)) && { seed }),
    ...((await there(disc)) && { iso: disc }),
    ...(settings.iso !== undefined && { iso: settings.iso }),
    serial: vmPath(path, 'serial'),
    pid: vmPath(path, 'pid'),
    qmpSocket: basename(run.qmpSocket),
    agentSocket: basename(run.agentSocket),
  }
}

const programs: Readonly<Record<string, string>> = { x64: 'qemu-system-x86_64' }

const findProgram = (): string => {
  const name = programs[process.arch]
  if (name === undefined) {
    throw new Failure('unsupported_platform', `VMs do not run on "${process.arch}" yet; use a host with x86-64.`, {
      platform: process.arch,
    })
  }
  const found = Bun.which(name)
  if (found !== null) return found
  throw new Failure(
    'missing_program',
    `"${name}" is not installed; on Debian and Ubuntu: apt install qemu-system-x86.`,
    { program: name },
  )
}

const exitOf = ({ exitCode, signalCode }: Bun.Subprocess): string => String(signalCode ?? `status ${exitCode}`)
