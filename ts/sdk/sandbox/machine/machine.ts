/** The sandboxes of this machine: a state file each, and a runtime that holds them. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import type { CallOptions } from '../../basics.ts'
import { invalidArgument, UnsupportedError } from '../../errors.ts'
import { displayUrlOf } from '../../interfaces/display.ts'
import { unavailable } from '../../runtimes/absent.ts'
import type { Resources } from '../../runtimes/features.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import { folders } from '../../state/folders.ts'
import { Records } from '../../state/records.ts'
import type { DisplayUrlOptions, Transport } from '../../transports/transport.ts'
import { checkFeatures, checkTtl } from '../checks.ts'
import { withLock } from '../names/lock.ts'
import { type Plan, reserve } from '../names/reserve.ts'
import type { CopyOptions, SandboxInfo, SandboxOptions, SavedSandbox, Source } from '../options.ts'
import type { ConnectedSandbox, Provider, SandboxReference } from '../provider.ts'
import { compareSizes, limitsOf, notRunning, refuseDiskOnly, refuseUnable, unknownRuntime } from '../refusals.ts'
import { fittingRuntime } from './choose-runtime.ts'
import { connectWhenReady, keepConnection, openTransport, storedInfo } from './connect.ts'
import { createReserved, reserveAndCreate } from './create.ts'
import { endIfDue, stopFor, sweep } from './end.ts'
import { scheduleEnd } from './expiry.ts'
import { createForks } from './forks.ts'
import { Lookup } from './lookup.ts'
import { holdingsOf, infoOfRecord, listMachine, statusNow } from './machine-info.ts'
import { startMs } from './start-limit.ts'
import { resumeLocked, suspendLocked } from './suspended.ts'

/** The state files of this user. */
export const machineRecords = (): Records => new Records(`${folders().state}/sandboxes`)

/** This machine; with `chosen`, one runtime of it. */
export class Machine implements Provider {
  readonly records = machineRecords()
  readonly #lookup: Lookup

  constructor(readonly chosen: Runtime | undefined) {
    this.#lookup = new Lookup(this.records, chosen)
  }

  /** Whether a state file has that name, be it one that cannot be used. */
  async knows(name: string): Promise<boolean> {
    const record = await this.records.read(name)
    return record !== undefined && (await endIfDue(this.records, record)) !== undefined
  }

  async create(source: Source, options: SandboxOptions, ephemeral: boolean): Promise<ConnectedSandbox> {
    const runtime = this.chosen ?? (await fittingRuntime(source, options))
    const check = await runtime.check(limitsOf(options))
    if (!check.available) throw unavailable(runtime.name, check)
    checkFeatures(runtime.name, check.features, source, options)
    // What others left is ended meanwhile; where that fails, `list` tells about it.
    sweep(this.records).catch(() => undefined)
    const plan: Plan = { runtime, source, options, ephemeral }
    const { record, transport } = await reserveAndCreate(this.records, plan, (name, onProgress) =>
      runtime.start(source, name, {
        ...options,
        name,
        ephemeral,
        onProgress,
        timeoutMs: options.timeoutMs ?? startMs,
      }),
    )
    return this.#held(record, transport, ephemeral)
  }

  async connect(name: string, options: CallOptions & Resources): Promise<ConnectedSandbox> {
    const { record, runtime } = await this.#lookup.find({ name, id: null })
    compareSizes(record, options)
    const status = statusNow(record, await holdingsOf(runtime, runtime.name, limitsOf(options)))
    if (status !== 'running') throw notRunning(name, status)
    const info = await storedInfo(this.records, record)
    if (info === undefined) throw notRunning(name, 'provisioning')
    return this.#held(record, await openTransport(runtime, info, limitsOf(options)), false)
  }

  list(options: CallOptions): Promise<SandboxInfo[]> {
    return listMachine(this.records, this.chosen, options)
  }

  async getInfo(named: SandboxReference, options: CallOptions): Promise<SandboxInfo> {
    const record = await this.#lookup.record(named)
    const runtime = this.#lookup.holderOf(record)
    return infoOfRecord(record, await holdingsOf(runtime, record.runtime, limitsOf(options)))
  }

  suspend(named: SandboxReference, options: CallOptions): Promise<void> {
    return withLock(this.records, named.name, options, async () => {
      const { record, runtime } = await this.#lookup.find(named, true)
      await suspendLocked(this.records, record, runtime, options)
    })
  }

  resume(named: SandboxReference, options: CallOptions): Promise<ConnectedSandbox> {
    return withLock(this.records, named.name, options, async () => {
      const { record, runtime } = await this.#lookup.find(named, true)
      return this.#resume(record, runtime, options)
    })
  }

  restart(named: SandboxReference, options: CallOptions): Promise<ConnectedSandbox> {
    return withLock(this.records, named.name, options, async () => {
      const { record, runtime } = await this.#lookup.find(named, true)
      const suspended = await suspendLocked(this.records, record, runtime, options)
      return this.#resume(suspended, runtime, options)
    })
  }

  delete(named: SandboxReference, options: CallOptions): Promise<void> {
    return withLock(this.records, named.name, options, async () => {
      const { runtime, hasRecord } = await this.#lookup.runtimeToEnd(named)
      await stopFor(runtime, named.name, limitsOf(options))
      if (hasRecord) await this.records.remove(named.name)
    })
  }

  async *logs(name: string, options: CallOptions & { follow?: boolean }): AsyncIterable<string> {
    const record = await this.records.read(name)
    const runtime = record === undefined ? this.chosen : this.#lookup.holderOf(record)
    if (runtime === undefined) throw record === undefined ? this.#lookup.notFound(name) : unknownRuntime(record)
    yield* runtime.logs(name, options)
  }

  async fork(named: SandboxReference, count: number, options: CopyOptions): Promise<ConnectedSandbox[]> {
    const { record, runtime } = await this.#lookup.find(named)
    refuseDiskOnly(runtime, 'fork', options.memory)
    const results = await createForks(this.records, record, runtime, { ...options, count })
    const made = results.flatMap((each) =>
      each.status === 'fulfilled'
        ? [this.#held({ ...each.value.record, os_type: record.os_type }, each.value.transport, true)]
        : [],
    )
    const failed = results.find((each) => each.status === 'rejected')
    if (failed === undefined) return made
    await Promise.allSettled(made.map((each) => this.release(each, {})))
    throw failed.reason
  }

  /** Takes a sandbox out of a pool of the chosen runtime. */
  async claim(pool: string, options: SandboxOptions): Promise<ConnectedSandbox> {
    const runtime = this.chosen
    if (runtime === undefined) throw new UnsupportedError('A pool belongs to a runtime; name it with "runtime".')
    const plan: Plan = { runtime, source: null, options, ephemeral: true }
    // A name that is made up is nobody else's, and what the runtime holds need not be asked for it.
    const isMadeUp = options.name === undefined
    const reserved = await reserve(this.records, plan, ...(isMadeUp ? [async () => new Set<string>()] : []))
    const { record, transport } = await createReserved(this.records, plan, reserved, (name) =>
      runtime.claim(pool, name, { ...limitsOf(options), timeoutMs: options.timeoutMs ?? startMs }),
    )
    return this.#held(record, transport, true)
  }

  async snapshot(named: SandboxReference, options: CopyOptions & { name?: string }): Promise<SavedSandbox> {
    const { record, runtime } = await this.#lookup.find(named)
    refuseDiskOnly(runtime, 'snapshot', options.memory)
    return withLock(this.records, record.name, options, () => runtime.snapshot(record.name, options))
  }

  restore(named: SandboxReference, snapshot: SavedSandbox, options: CallOptions): Promise<ConnectedSandbox> {
    return withLock(this.records, named.name, options, async () => {
      const { record, runtime } = await this.#lookup.find(named, true)
      if (snapshot.source !== record.runtime || snapshot.sandbox !== record.name) {
        const text = `The snapshot "${snapshot.id}" is of "${snapshot.sandbox}", not of "${record.name}". Create a sandbox from it.`
        throw invalidArgument('snapshot', text)
      }
      const info = await runtime.restore(record.name, snapshot, limitsOf(options))
      const running = { ...(await keepConnection(this.records, record, info)), status: 'running' as const }
      const transport = await connectWhenReady(runtime, running, info, options)
      await this.records.write(running)
      return this.#held(running, transport, false)
    })
  }

  keep(named: SandboxReference, options: CallOptions): Promise<void> {
    return this.#change(named, options, async (record) => {
      // A runtime that binds it to this program lets go of it first: a record that says so before would not be true.
      if (record.ephemeral) await this.#lookup.runtimeOf(record).keep(record.name, limitsOf(options))
      return { ...record, ephemeral: false, owner: null }
    })
  }

  async setTtl(named: SandboxReference, ttlMs: number | null, options: CallOptions): Promise<void> {
    checkTtl(ttlMs)
    await this.#change(named, options, async (record) => ({
      ...record,
      expires_at: ttlMs === null ? null : new Date(Date.now() + ttlMs).toISOString(),
    }))
  }

  release(named: SandboxReference, options: CallOptions): Promise<void> {
    return withLock(this.records, named.name, options, async () => {
      const record = await this.records.read(named.name)
      if (record === undefined || record.id !== named.id || !record.ephemeral) return
      const runtime = this.#lookup.runtimeOf(record)
      await stopFor(runtime, record.name, limitsOf(options))
      await this.records.remove(record.name)
    })
  }

  async getDisplayUrl({ name, transport }: ConnectedSandbox, options: DisplayUrlOptions): Promise<string> {
    const { record, runtime } = await this.#lookup.find({ name, id: null })
    refuseUnable(runtime, runtime.features.display)
    if (options.share) {
      throw new UnsupportedError(`The screen of "${name}" is not public: only the cloud shares one. Leave "share" out.`)
    }
    const url = infoOfRecord(record, []).vncUrl
    if (url === null || options.viewOnly) return displayUrlOf(transport, options)
    return url
  }

  /** Continues one that is suspended; one that runs is connected to. */
  async #resume(record: SandboxRecord, runtime: Runtime, options: CallOptions): Promise<ConnectedSandbox> {
    const resumed = await resumeLocked(this.records, record, runtime, options)
    return resumed === undefined
      ? this.connect(record.name, options)
      : this.#held(resumed.record, resumed.transport, false)
  }

  #change(
    named: SandboxReference,
    options: CallOptions,
    change: (record: SandboxRecord) => Promise<SandboxRecord>,
  ): Promise<void> {
    return withLock(this.records, named.name, options, async () => {
      const changed = await change(await this.#lookup.record(named, true))
      await this.records.write(changed)
      this.#endInTime(changed)
    })
  }

  #endInTime(record: SandboxRecord): void {
    scheduleEnd(record.id, record.expires_at, async () => {
      const now = await this.records.read(record.name)
      if (now?.id === record.id) await endIfDue(this.records, now)
    })
  }

  #held(record: SandboxRecord, transport: Transport, ephemeral: boolean): ConnectedSandbox {
    this.#endInTime(record)
    const { name, id, runtime, os_type } = record
    return { name, id, source: runtime, ephemeral, isAndroid: os_type === 'android', transport, provider: this }
  }
}
