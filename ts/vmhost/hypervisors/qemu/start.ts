/** Starts QEMU for a VM, and finds the one of a service that died. */

import { closeSync, existsSync, openSync } from 'node:fs'
import { access, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { ownDisk } from '../../disks/own-disk.ts'
import { wordsForSeed } from '../../seed.ts'
import { seedFolder, vmPath } from '../../vm-directory.ts'
import type { StoredVm } from '../../vm-store.ts'
import type { Hypervisor, RunOptions, Tell } from '../hypervisor.ts'
import { type Accelerator, type Files, qemuArguments } from './arguments.ts'
import { failureOf } from './complaints.ts'
import { endingOf, lastLines } from './ending.ts'
import { clearRun, QemuMachine, type Surroundings } from './machine.ts'
import { newPassword } from './password.ts'
import { reachable } from './ports.ts'
import { killProcess, startTime } from './process.ts'
import { recoverRun } from './recovery.ts'
import { withoutRights } from './rights.ts'
import { type RunRecord, readRun, writeRun } from './run-record.ts'

/** Milliseconds that QEMU may take to open its control socket, and that one found alive may take to answer on it. */
const opensWithinMs = 30_000
const answersWithinMs = 5_000
/** How often it is started when a port that was free is taken in the same moment. */
const attempts = 3

/** A lock that a child process can be given. */
interface Lock {
  readonly descriptor: number | null
  leave(): void
  release(): void
}

/** What QEMU is started with. */
export interface QemuOptions {
  /** Folder of control sockets. */
  readonly runtime: string
  accelerator(): Promise<Accelerator>
  lock(path: string): Lock | undefined
}

/** QEMU for guests of this machine's own architecture. */
export const qemu = (options: QemuOptions): Hypervisor => ({
  lives: ({ path }) => existsSync(vmPath(path, 'lock')) && !isFree(vmPath(path, 'lock'), options),

  async start(vm, wishes, tell, signal) {
    await mkdir(options.runtime, { recursive: true, mode: 0o700 })
    const program = findProgram()
    const accelerator = await options.accelerator()
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await startOnce(program, accelerator, attempt, vm, wishes, tell, options)
      } catch (error) {
        if (attempt + 1 >= attempts || Failure.from(error).code !== 'port_in_use') throw error
        tell(`starting again: ${(error as Error).message}`)
      }
    }
  },

  async adopt(vm) {
    const found = await recordOf(vm, options)
    if (found === undefined) return undefined
    const { run } = found
    const around: Surroundings = { isFree: (path) => isFree(path, options), exit: () => undefined }
    const lock = vmPath(vm.path, 'lock')
    const deadline = performance.now() + answersWithinMs
    for (; !around.isFree(lock); await Bun.sleep(20)) {
      const isLate = performance.now() > deadline
      const pid = found.pid ?? (await readPid(vm.path))
      if (pid === undefined && isLate) throw silent(vm.name, answersWithinMs)
      // Without a pid, or a socket, it is being started this very moment.
      if (pid === undefined) continue
      try {
        return await QemuMachine.take(vm, pid, run, around, answersWithinMs)
      } catch (error) {
        const { code } = Failure.from(error)
        if (code === 'internal') throw error
        // A process that stands still is alive, and somebody may want to end it.
        if (code !== 'hypervisor_unreachable' || isLate) return QemuMachine.silent(vm, pid, run, around)
      }
    }
    const log = await readFile(vmPath(vm.path, 'hypervisorLog'), 'utf8').catch(() => '')
    await clearRun(vm.path, run, endingOf({ killed: false, asked: false }, 'while no service watched', log))
    return undefined
  },
})

/** How a VM was started that may still live; where no record can be read, what its hypervisor tells, and who that is. */
const recordOf = async (vm: StoredVm, options: QemuOptions): Promise<{ run: RunRecord; pid?: number } | undefined> => {
  const read = await readRun(vm.path).catch((error: Error) => error)
  if (read !== undefined && !(read instanceof Error)) return { run: read }
  if (!isFree(vmPath(vm.path, 'lock'), options)) return recoverRun(vm, read)
  // Nothing lives that a damaged one could tell about.
  await rm(vmPath(vm.path, 'run'), { force: true })
  return undefined
}

/** Files of the run before. */
const left = ['pid', 'serial', 'hypervisorLog'] as const

const startOnce = async (
  program: string,
  accelerator: Accelerator,
  attempt: number,
  vm: StoredVm,
  wishes: RunOptions,
  tell: Tell,
  options: QemuOptions,
): Promise<QemuMachine> => {
  const { name, path, settings } = vm
  const lock = lockAt(vmPath(path, 'lock'), options)
  if (lock === undefined) {
    throw new Failure('vm_running', `The VM "${name}" is run by another process already; stop it there first.`, {
      name,
    })
  }
  // Somebody may have copied a folder, and the UUID with it.
  const base = join(options.runtime, Bun.hash(path).toString(16).padStart(16, '0'))
  let run: RunRecord | undefined
  let child: Bun.Subprocess | undefined
  try {
    // Its own words for a disk that cannot be are clearer than the hypervisor's.
    await ownDisk(vmPath(path, 'disk'))
    const found = settings.network === 'none' ? undefined : await reachable(settings.uuid, settings.ports, attempt)
    run = {
      hypervisor: 'qemu',
      startedAt: new Date().toISOString(),
      accelerator,
      memoryBytes: settings.memoryBytes,
      ipAddress: found?.address ?? null,
      forwards: [...(found?.forwards ?? [])],
      vncPassword: wishes.hasDisplay ? newPassword() : null,
      sharedDirectories: wishes.sharedDirectories.length > 0 ? [...wishes.sharedDirectories] : null,
      qmpSocket: `${base}.qmp`,
      agentSocket: `${base}.agent`,
    }
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
      moreWords: await wordsForSeed(path, { instanceId: settings.instanceId, hostName: name }),
    })
    const confined = [...withoutRights(wishes.sharedDirectories.length > 0), program, ...words]
    child = spawn(confined, vmPath(path, 'hypervisorLog'), lock.descriptor as number)
  } catch (error) {
    lock.release()
    if (run !== undefined) await rm(vmPath(path, 'run'), { force: true })
    throw error
  }
  // From here on the child alone holds the lock.
  lock.leave()
  const { pid } = child
  const began = startTime(pid) ?? ''
  const exit = child.exited.then(() => exitOf(child))
  const around: Surroundings = { isFree: (file) => isFree(file, options), exit: () => exit }
  try {
    return await answering(vm, child, run, around)
  } catch (error) {
    killProcess(pid, began)
    await child.exited
    const lines = lastLines(await readFile(vmPath(path, 'hypervisorLog'), 'utf8').catch(() => ''), 20)
    for (const line of lines) tell(line)
    const failure =
      error instanceof EndedEarly
        ? failureOf(name, lines, `it ended with ${exitOf(child)}`)
        : Failure.from(error).code === 'internal'
          ? new Failure('hypervisor_failed', `The VM "${name}" did not start: ${(error as Error).message}.`, { name })
          : Failure.from(error)
    isFree(vmPath(path, 'lock'), options)
    await clearRun(path, run, { cause: failure.message, expected: false, at: new Date().toISOString() })
    throw failure
  }
}

class EndedEarly extends Error {}

/** The machine, as soon as its control socket answers. */
const answering = async (
  vm: StoredVm,
  child: Bun.Subprocess,
  run: RunRecord,
  around: Surroundings,
): Promise<QemuMachine> => {
  const deadline = performance.now() + opensWithinMs
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new EndedEarly()
    const isOpen = await access(run.qmpSocket).then(
      () => true,
      () => false,
    )
    if (isOpen) {
      const taken = await QemuMachine.take(vm, child.pid, run, around, answersWithinMs).catch(async (error) => {
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

const silent = (name: string, ms: number): Failure =>
  new Failure(
    'hypervisor_timeout',
    `The hypervisor of "${name}" did not answer within ${ms / 1000} s. Try again when the host is less busy.`,
    { name },
  )

const spawn = (words: readonly string[], log: string, lock: number): Bun.Subprocess => {
  const output = openSync(log, 'a', 0o600)
  try {
    return Bun.spawn([...words], {
      // The lock gets the number `lockDescriptor`.
      stdio: ['ignore', output, output, lock] as ['ignore', number, number, number],
      detached: true,
      cwd: '/',
      env: { PATH: process.env.PATH, LC_ALL: 'C', ...(process.env.TMPDIR && { TMPDIR: process.env.TMPDIR }) },
    })
  } finally {
    closeSync(output)
  }
}

const filesOf = async ({ path, settings }: StoredVm, run: RunRecord): Promise<Files> => {
  const there = async (file: string): Promise<boolean> =>
    access(file).then(
      () => true,
      () => false,
    )
  const kernel = vmPath(path, 'kernel')
  const initrd = vmPath(path, 'initrd')
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
    ...((await there(seed)) && { seed }),
    ...(settings.iso !== undefined && { iso: settings.iso }),
    serial: vmPath(path, 'serial'),
    pid: vmPath(path, 'pid'),
    qmpSocket: run.qmpSocket,
    agentSocket: run.agentSocket,
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
    {
      program: name,
    },
  )
}

const lockAt = (path: string, { lock }: QemuOptions): Lock | undefined => {
  try {
    return lock(path)
  } catch (error) {
    throw new Failure(
      'vm_damaged',
      `The lock "${path}" cannot be taken: ${(error as Error).message}. Remove it where no hypervisor of the VM runs.`,
      { path },
    )
  }
}

const isFree = (path: string, options: QemuOptions): boolean => {
  const taken = lockAt(path, options)
  taken?.release()
  return taken !== undefined
}

const readPid = async (folder: string): Promise<number | undefined> => {
  const text = await readFile(vmPath(folder, 'pid'), 'utf8').catch(() => '')
  const pid = Number(text.trim())
  return Number.isInteger(pid) && pid > 0 ? pid : undefined
}

const exitOf = ({ exitCode, signalCode }: Bun.Subprocess): string => String(signalCode ?? `status ${exitCode}`)
