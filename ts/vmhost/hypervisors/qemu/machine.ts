/** A QEMU that runs, as the host sees it over its control socket. */

import { readFile, rm, statfs } from 'node:fs/promises'
import { connect } from 'node:net'
import { Failure } from '@backlot/contract/failure'
import type { Ending } from '@backlot/contract/vmhost/vm'
import { settleAll } from '@backlot/contract/work/settle-all'
import { hasEnded, startTicksOf } from '@backlot/native/proc-stat'
import { replaceFile, syncFile } from '../../files/durable.ts'
import { fitsDisk, keepSaved, readSaved, removeSavedMemory, removeUsedMemory } from '../../snapshots/saved-state.ts'
import { unlessAborted } from '../../unless-aborted.ts'
import { vmPath } from '../../vms/vm-directory.ts'
import type { StoredVm } from '../../vms/vm-store.ts'
import type { Machine, Progress } from '../hypervisor.ts'
import { releasePort, sendToAgent } from './guest/agent.ts'
import { QemuGuest } from './guest/guest.ts'
import { handlesPowerButton, hasAgent } from './guest/power-button.ts'
import { loadImage, type Resume } from './memory-image.ts'
import { goOn, loadMemory, machineTypeOf, saveMemory, versionOf } from './migration.ts'
import { boundLog } from './process/bounded-log.ts'
import { endingOf, type ProcessHistory } from './process/exit-cause.ts'
import { killProcess } from './process/process.ts'
import type { RunRecord } from './process/run-record.ts'
import { Qmp, type QmpEvent } from './qmp.ts'

/** Milliseconds between two tries to let a guest go on whose disk had no room. */
const resumeEveryMs = 5_000
/** Bytes that must be free for that. */
const enoughRoom = 64 * 1024 * 1024
/** Milliseconds for which a guest comes no nearer to what it is asked for until it is given up, those in all, and to undo it. */
const balloon = { standsStillMs: 3_000, inAllMs: 30_000, undoneWithinMs: 1_000 } as const
/** The balloon takes whole pages. */
const pageBytes = 4096
/** The port of the guest on which SSH is looked for, and how often. */
const sshPort = 22
const sshEveryMs = 2_000
/** Milliseconds between two looks how long the logs have grown. */
const logsEveryMs = 10_000

/** What the processes around a machine are asked. */
export interface Surroundings {
  /** Whether no process holds the lock file any more; the file is gone then. */
  isFree(lock: string): boolean
  /** How the process ended, where it is a child of this one. */
  exit(): Promise<string> | undefined
}

export class QemuMachine implements Machine {
  readonly place: StoredVm
  readonly accelerator
  readonly startedAt
  readonly memoryBytes
  readonly ipAddress
  readonly forwards
  readonly sharedDirectories
  readonly ended: Promise<Ending>
  readonly guest: QemuGuest
  vnc: Machine['vnc']
  sshAvailable = false
  trouble: string | null = null
  readonly #seen: ProcessHistory = { killed: false, asked: false }
  readonly #began: number
  readonly #timers = new Set<Timer>()
  #released = false
  #isSaving = false
  /** Whether its memory is saved whole, so that it is of no more use: a service that died had not ended it yet. */
  isSaved = false
  #qmp: Qmp | undefined

  private constructor(
    vm: StoredVm,
    readonly pid: number,
    readonly run: RunRecord,
    readonly around: Surroundings,
  ) {
    this.place = vm
    this.#began = startTicksOf(pid) ?? 0
    this.accelerator = run.accelerator
    this.startedAt = run.startedAt
    this.memoryBytes = run.memoryBytes
    this.ipAddress = run.ipAddress
    this.forwards = run.forwards
    this.sharedDirectories = run.sharedDirectories
    const { promise, resolve } = Promise.withResolvers<Ending>()
    this.ended = promise
    this.#settle = resolve
    this.guest = new QemuGuest(run.agentSocket, this)
  }

  readonly #settle: (ending: Ending) => void

  /**
   * Takes over the QEMU behind the socket: proves that it is the VM's, sets its password, lets its processor run if it
   * does not yet; where it is to resume, it comes to the VM's saved memory before, until that is aborted. Throws what the
   * connection throws.
   */
  static async take(
    vm: StoredVm,
    pid: number,
    run: RunRecord,
    around: Surroundings,
    timeoutMs: number,
    resume?: Resume,
  ): Promise<QemuMachine> {
    const machine = new QemuMachine(vm, pid, run, around)
    await machine.#connect(timeoutMs, resume)
    machine.#watch()
    return machine
  }

  /** The machine of a QEMU that lives and does not answer: it can be killed, and is spoken with once it answers. */
  static silent(vm: StoredVm, pid: number, run: RunRecord, around: Surroundings): QemuMachine {
    const machine = new QemuMachine(vm, pid, run, around)
    machine.trouble = 'Its hypervisor lives but does not answer.'
    machine.#watch()
    return machine
  }

  async #connect(timeoutMs: number, resume?: Resume): Promise<void> {
    const { run, place } = this
    // Whoever saves it ends it, or lets it go on.
    if (this.#isSaving) throw new Error('its memory is being saved')
    const qmp = await Qmp.connect(run.qmpSocket, timeoutMs, (event) => this.#hear(event))
    try {
      const { UUID: uuid } = await qmp.execute<{ UUID: string }>('query-uuid')
      if (uuid !== place.settings.uuid)
        throw new Error(`the hypervisor at "${run.qmpSocket}" runs another VM (${uuid})`)
      if (run.vncPassword !== null) this.vnc = await openVnc(qmp, run.vncPassword)
      const { status } = await qmp.execute<{ status: string }>('query-status')
      if (resume !== undefined) await goOnSaved(qmp, place.path, resume)
      else if (status === 'prelaunch') await qmp.execute('cont')
      else this.isSaved = await finishSaving(qmp, place.path, status)
      if (!this.isSaved) {
        await releasePort(run.agentSocket)
        this.trouble = null
      }
      if (status === 'io-error') this.#standsStill()
    } catch (error) {
      qmp.close()
      throw error
    }
    this.#qmp = qmp
  }

  async askToShutDown(): Promise<'agent' | 'acpi' | undefined> {
    this.#seen.asked = true
    const qmp = this.#qmp
    if (qmp === undefined) return undefined
    try {
      const { running } = await qmp.execute<{ running: boolean }>('query-status', undefined, 2_000)
      if (!running) return undefined
      const command = ['guest-shutdown', { mode: 'powerdown' }] as const
      if ((await hasAgent(qmp)) && (await sendToAgent(this.run.agentSocket, ...command))) return 'agent'
      if (!(await handlesPowerButton(qmp))) return undefined
      await qmp.execute('system_powerdown', undefined, 2_000)
      return 'acpi'
    } catch {
      return undefined
    }
  }

  async hasAgent(): Promise<boolean> {
    return hasAgent(this.#connection())
  }

  async kill(): Promise<void> {
    this.#seen.killed = true
    await this.#qmp?.execute('quit', undefined, 1_000).catch(() => undefined)
    const timer = setTimeout(() => killProcess(this.pid, this.#began), 1_000)
    await this.ended
    clearTimeout(timer)
  }

  async suspend(work: Progress, meanwhile?: (saved: string) => Promise<void>): Promise<void> {
    const qmp = this.#connection()
    const { path, name } = this.place
    const { accelerator, memoryBytes, sharedDirectories, run } = this
    this.#isSaving = true
    try {
      const [version, machineType] = await Promise.all([versionOf(qmp), machineTypeOf(qmp)])
      work.step('saving the memory')
      await saveMemory(qmp, name, vmPath(path, 'nextMemory'), work)
      try {
        work.step('writing it to the drive')
        const saved = vmPath(path, 'nextMemory')
        const isWritten = unlessAborted(syncFile(saved), work.signal)
        await settleAll([isWritten, meanwhile?.(saved) ?? Promise.resolve()])
        work.signal.throwIfAborted()
        const hasDisplay = run.vncPassword !== null
        const about = { hypervisor: 'qemu', version, machineType, accelerator, memoryBytes, hasDisplay } as const
        await keepSaved(path, { ...about, sharedDirectories })
      } catch (error) {
        await removeSavedMemory(path)
        await rm(vmPath(path, 'nextMemory'), { force: true })
        await goOn(qmp)
        throw error
      }
      await this.endSaved()
    } finally {
      this.#isSaving = false
    }
  }

  /** Ends the process of a machine whose memory is saved. */
  async endSaved(): Promise<void> {
    this.#seen.saved = true
    await this.kill()
  }

  async growDisk(bytes: number): Promise<void> {
    await this.#connection().execute('block_resize', { 'node-name': 'disk', size: bytes })
  }

  async setMemory(bytes: number, signal: AbortSignal): Promise<boolean> {
    // Its pages are those of others too, of which none can be given back.
    if (this.run.sharesMemory) return false
    const qmp = this.#connection()
    const ask = (value: number, timeoutMs?: number) => qmp.execute('balloon', { value }, timeoutMs)
    const before = await unlessAborted(presentMemory(qmp), signal)
    // A guest that is refused what it was asked for must not go on giving memory away.
    try {
      await unlessAborted(ask(bytes), signal)
      if (await reaches(qmp, bytes, before, signal)) return true
    } catch (error) {
      await ask(before, balloon.undoneWithinMs).catch(() => undefined)
      throw error
    }
    await ask(before)
    return false
  }

  release(): void {
    this.#released = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#qmp?.close()
  }

  #connection(): Qmp {
    if (this.#qmp !== undefined) return this.#qmp
    const { name } = this.place
    const next = 'Look whether it still runs, and try again or stop it.'
    throw new Failure('hypervisor_lost', `The hypervisor of "${name}" has ended or does not answer. ${next}`, { name })
  }

  #hear({ name, data }: QmpEvent): void {
    if (name === 'SHUTDOWN') this.#seen.reason = String(data.reason)
    if (name === 'GUEST_PANICKED') this.#seen.reason = 'guest-panic'
    if (name === 'BLOCK_IO_ERROR' && data.nospace === true) this.#standsStill()
    if (name === 'RESUME') this.trouble = null
  }

  /** The guest's processor stands until its disk can grow; nothing is lost. */
  #standsStill(): void {
    this.trouble = 'There is no room left where its disk is kept; it stands still until there is.'
    this.#later(resumeEveryMs, async () => {
      if (this.trouble === null || this.#isSaving) return
      const { bavail, bsize } = await statfs(this.place.path)
      if (bavail * bsize < enoughRoom) this.#standsStill()
      else await this.#qmp?.execute('cont').catch(() => undefined)
    })
  }

  #watch(): void {
    this.#later(sshEveryMs, () => this.#lookForSsh())
    this.#later(0, () => this.#boundLogs())
    this.#outlive().catch((error) =>
      this.#settle({ cause: String(error), expected: false, at: new Date().toISOString() }),
    )
  }

  /** Waits for the end of the process; a connection that was lost without it is made again. */
  async #outlive(): Promise<void> {
    const lock = vmPath(this.place.path, 'lock')
    let waitMs = 5
    for (;;) {
      await this.#qmp?.ended
      if (this.#released) return
      this.#qmp = undefined
      if (this.#isGone(lock)) break
      await Bun.sleep(waitMs)
      waitMs = Math.min(500, waitMs * 1.5)
      if (waitMs <= 100 || this.#released) continue
      await this.#connect(500).catch(() => undefined)
      // It did not answer when it was found: its end is waited for here, like every other.
      if (this.isSaved && this.#qmp !== undefined) void this.endSaved()
    }
    for (const timer of this.#timers) clearTimeout(timer)
    const log = await readFile(vmPath(this.place.path, 'hypervisorLog'), 'utf8').catch(() => '')
    const ending = endingOf(this.#seen, await this.around.exit(), log)
    await removeEndedRun(this.place.path, this.run, ending)
    await removeUsedMemory(this.place.path).catch(() => undefined)
    this.#settle(ending)
  }

  #isGone(lock: string): boolean {
    try {
      return this.around.isFree(lock)
    } catch {
      // Somebody removed the folder; the process does not mind.
      return hasEnded(this.pid, this.#began)
    }
  }

  async #boundLogs(): Promise<void> {
    this.#later(logsEveryMs, () => this.#boundLogs())
    await boundLog(vmPath(this.place.path, 'serial'))
    await boundLog(vmPath(this.place.path, 'hypervisorLog'))
  }

  async #lookForSsh(): Promise<void> {
    const forward = this.forwards.find(({ guestPort }) => guestPort === sshPort)
    if (forward === undefined) return
    this.sshAvailable = await greets(forward.address, forward.port)
    if (!this.sshAvailable) this.#later(sshEveryMs, () => this.#lookForSsh())
  }

  #later(ms: number, work: () => Promise<void>): void {
    if (this.#released) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      work().catch(() => undefined)
    }, ms)
    timer.unref()
    this.#timers.add(timer)
  }
}

/** Comes to the saved memory in `folder` and lets the processor run, after which that memory is no more. */
const goOnSaved = async (qmp: Qmp, folder: string, { signal, image }: Resume): Promise<void> => {
  const path = vmPath(folder, 'memory')
  await (image === undefined ? loadMemory(qmp, path, signal) : loadImage(qmp, image, signal))
  await qmp.execute('cont')
  // What stays of it is known by the disk, which is written to from now on.
  await removeSavedMemory(folder).catch(() => undefined)
}

/** States of a QEMU that stands still because somebody saves or reads its memory. */
const savingStates = ['paused', 'inmigrate', 'finish-migrate', 'postmigrate']

/**
 * Ends what a service that died had begun: a machine of which the memory is saved whole is of no more use, one of which it is
 * not goes on. Says whether it is saved.
 */
const finishSaving = async (qmp: Qmp, folder: string, status: string): Promise<boolean> => {
  const saved = await readSaved(folder).catch(() => undefined)
  const isStanding = savingStates.includes(status)
  if (saved !== undefined && isStanding && (await fitsDisk(folder, saved))) return true
  if (saved !== undefined) await removeSavedMemory(folder)
  if (isStanding) await goOn(qmp)
  return false
}

/** Bytes of memory that the guest has now. */
const presentMemory = async (qmp: Qmp): Promise<number> =>
  (await qmp.execute<{ actual: number }>('query-balloon')).actual

/** Whether the guest comes to have so many bytes of memory; false where it does not move. */
const reaches = async (qmp: Qmp, bytes: number, before: number, signal: AbortSignal): Promise<boolean> => {
  const started = performance.now()
  let [nearest, movedAt] = [Math.abs(before - bytes), started]
  for (;;) {
    const actual = await unlessAborted(presentMemory(qmp), signal)
    const now = performance.now()
    const missing = Math.abs(actual - bytes)
    if (missing < pageBytes) return true
    if (missing < nearest) [nearest, movedAt] = [missing, now]
    if (now - movedAt > balloon.standsStillMs || now - started > balloon.inAllMs) return false
    await unlessAborted(Bun.sleep(50), signal)
  }
}

/** Removes what a hypervisor that is gone has left, and keeps how it ended. */
export const removeEndedRun = async (
  folder: string,
  run: Pick<RunRecord, 'qmpSocket' | 'agentSocket'>,
  ending: Ending,
): Promise<void> => {
  // Whoever deletes the folder in the meantime has no use for it.
  await replaceFile(vmPath(folder, 'ended'), `${JSON.stringify(ending)}\n`).catch(() => undefined)
  for (const path of [run.qmpSocket, run.agentSocket, vmPath(folder, 'pid'), vmPath(folder, 'run')]) {
    await rm(path, { force: true })
  }
}

const openVnc = async (qmp: Qmp, password: string): Promise<Machine['vnc']> => {
  await qmp.execute('set_password', { protocol: 'vnc', password })
  const { host = '127.0.0.1', service } = await qmp.execute<{ host?: string; service?: string }>('query-vnc')
  return { host, port: Number(service), password }
}

/** Whether an SSH server sends its greeting; the network of QEMU accepts connections for ports that nobody listens on. */
const greets = (host: string, port: number): Promise<boolean> =>
  new Promise((settle) => {
    const socket = connect({ host, port })
    const finish = (found: boolean) => {
      socket.destroy()
      settle(found)
    }
    socket.setTimeout(sshEveryMs, () => finish(false))
    socket.on('data', (data) => finish(data.toString('latin1').startsWith('SSH-')))
    socket.on('error', () => finish(false))
    socket.on('close', () => settle(false))
  })
