/** The verbs of sandboxes that are VMs of a host. */
import { randomBytes } from 'node:crypto'
import type { Vm } from '@backlot/contract/vmhost/vm'
import type { CallOptions, Listing } from '../../basics.ts'
import { pause, withDeadline } from '../../deadline.ts'
import { BacklotError, TimeoutError, UnsupportedError } from '../../errors.ts'
import type { Image } from '../../image/image.ts'
import { isImage } from '../../sandbox/checks.ts'
import { listing } from '../../sandbox/listing.ts'
import type {
  CopyOptions,
  SandboxOptions,
  SandboxStatus,
  SavedSandbox,
  Source,
  WarmPoolInfo,
  WarmPoolOptions,
} from '../../sandbox/options.ts'
import type { HeldSandbox } from '../runtime.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import { boot } from './boot.ts'
import { forkWithKeys, infoOf, keyByAgent, whenReady, withOwnKey } from './guest-server.ts'
import type { VmHost } from './host.ts'
import { VmPools } from './pools.ts'
import { noSnapshot, placeOf, snapshotId, startSnapshot, storedKey } from './snapshots.ts'
import { hostImage, removed } from './sources.ts'
import { forkOfTemplate, isTemplate, keepAsTemplate } from './templates.ts'

/** Milliseconds that a change may take where its caller says nothing. */
const changeMs = 120_000

const statuses: Readonly<Record<Vm['status'], SandboxStatus>> = {
  provisioning: 'provisioning',
  pulling: 'provisioning',
  starting: 'provisioning',
  running: 'running',
  suspended: 'suspended',
  stopped: 'stopped',
  damaged: 'stopped',
}

const unnamed = /^snapshot-[0-9a-f]{12}$/

/** The VMs of a host as sandboxes. */
export class Vms {
  /** `runtime` is the key that is stored with each sandbox. */
  constructor(
    readonly runtime: string,
    readonly host: VmHost,
  ) {}

  async start(source: Source, name: string, options: SandboxOptions): Promise<RuntimeInfo> {
    if (!isImage(source)) {
      return this.#within(options, 'The start of a VM from a snapshot', (signal) =>
        startSnapshot(this.host, source, name, options, signal),
      )
    }
    const image = source as Image
    const unlimited = { ...options, timeoutMs: Number.POSITIVE_INFINITY }
    // Whoever waits for the start has its limit, which does not run while an image is fetched.
    return withDeadline(unlimited, 'The start of a VM', async (signal) => {
      const from = await hostImage(this.host, image, options, signal)
      const begun = [this.host, image, from, name, options, signal] as const
      const fork = await forkOfTemplate(...begun)
      if (fork !== undefined) return fork
      const info = await boot(...begun)
      await keepAsTemplate(this.host, image, from, name, info, options, signal)
      return info
    })
  }

  async stop(name: string, options: CallOptions): Promise<void> {
    await this.#within(options, 'The end of a VM', (signal) => removed(this.host, name, signal))
  }

  /** Whether the computer server answers in time; throws `unreachable` where the VM has ended. */
  async isReady(info: RuntimeInfo, options: CallOptions): Promise<boolean> {
    try {
      await this.#within(options, 'The start of the computer server', (signal) => whenReady(this.host, info, signal))
      return true
    } catch (error) {
      if (BacklotError.is(error) && error instanceof TimeoutError) return false
      throw error
    }
  }

  async suspend(name: string, options: CallOptions): Promise<void> {
    await this.#within(options, 'The suspension of a VM', (signal) =>
      this.host.ask(signal, (client) => client.suspendVm({ name })),
    )
  }

  resume(name: string, options: CallOptions): Promise<RuntimeInfo> {
    return this.#within(options, 'The continuation of a VM', (signal) => this.#goOn(name, signal))
  }

  async list(options: CallOptions): Promise<readonly HeldSandbox[]> {
    const vms = await this.host.ask(options.signal, (client) => client.listVms())
    const mine = vms.filter(({ name }) => !isTemplate(name))
    return mine.map(({ name, status, lastError }) => ({
      name,
      status: statuses[status],
      warnings: lastError === null ? [] : [lastError],
    }))
  }

  applyPool(source: Source, options: WarmPoolOptions): Promise<void> {
    // As for the start of a sandbox: what is fetched or booted first may take its time.
    const unlimited = { ...options, timeoutMs: Number.POSITIVE_INFINITY }
    return withDeadline(unlimited, 'The pool', (signal) => this.#pools().apply(source, options, signal))
  }

  listPools({ signal }: CallOptions): Listing<WarmPoolInfo> {
    return listing(() => this.#pools().list(signal))
  }

  claim(pool: string, name: string, options: CallOptions): Promise<RuntimeInfo> {
    return this.#within(options, 'The claim', (signal) => this.#pools().claim(pool, name, signal))
  }

  #pools(): VmPools {
    return new VmPools(this.runtime, this.host)
  }

  /** What the host logged about it, one JSON object a line. */
  async *logs(name: string, { follow = false, signal }: CallOptions & { follow?: boolean }): AsyncIterable<string> {
    await this.#get(name, signal)
    let told = 0
    for (;;) {
      const { info = [], error = [] } = await this.host.ask(signal, (client) => client.getLogs({ lines: 10_000 }))
      const lines = [...info, ...error].filter((line) => vmOf(line) === name).sort()
      yield* lines.slice(told)
      told = lines.length
      if (!follow) return
      await pause(logEveryMs, signal ?? new AbortController().signal)
    }
  }

  fork(name: string, forks: readonly string[], options: CopyOptions): Promise<RuntimeInfo[]> {
    refuseDiskAlone(options, 'fork')
    return this.#within(options, 'The fork of a VM', async (signal) => {
      const key = await this.#keyOf(name, signal)
      const { own } = (await forkWithKeys(this.host, name, forks, key, signal)).keys
      return Promise.all(
        forks.map((fork, index) =>
          withOwnKey(this.host, fork, { parents: key, own: own.slice(index, index + 1) }, signal),
        ),
      )
    })
  }

  snapshot(name: string, options: CopyOptions & { name?: string }): Promise<SavedSandbox> {
    refuseDiskAlone(options, 'snapshot')
    const snapshot = options.name ?? `snapshot-${randomBytes(6).toString('hex')}`
    return this.#within(options, 'The snapshot of a VM', async (signal) =>
      this.#saved(name, await this.host.ask(signal, (client) => client.takeSnapshot({ name, snapshot }))),
    )
  }

  restore(name: string, saved: SavedSandbox, options: CallOptions): Promise<RuntimeInfo> {
    return this.#within(options, 'The return to a snapshot', async (signal) => {
      const { snapshot } = placeOf(saved.id)
      const snapshots = await this.host.ask(signal, (client) => client.listSnapshots({ name }))
      // Looked at first: what runs is not ended for nothing.
      if (!snapshots.some((each) => each.name === snapshot)) throw noSnapshot(saved.id)
      const { status } = await this.#get(name, signal)
      if (status === 'running') await this.host.ask(signal, (client) => client.stopVm({ name, graceSeconds: 0 }))
      await this.host.ask(signal, (client) => client.restoreSnapshot({ name, snapshot }))
      return this.#goOn(name, signal)
    })
  }

  listSnapshots({ signal }: CallOptions): Listing<SavedSandbox> {
    return listing(async () => {
      const vms = await this.host.ask(signal, (client) => client.listVms())
      const whole = vms.filter(({ status }) => status !== 'provisioning' && status !== 'pulling')
      const found = await Promise.all(
        whole.map(async ({ name }) => {
          const snapshots = await this.host.ask(signal, (client) => client.listSnapshots({ name }))
          return snapshots.map((each) => this.#saved(name, each))
        }),
      )
      return found.flat()
    })
  }

  async deleteSnapshot(id: string, { signal }: CallOptions): Promise<void> {
    const { vm: name, snapshot } = placeOf(id)
    try {
      await this.host.ask(signal, (client) => client.deleteSnapshot({ name, snapshot }))
    } catch (error) {
      if (BacklotError.is(error) && error.code === 'sandbox_not_found') throw noSnapshot(id)
      throw error
    }
  }

  #saved(vm: string, { name, createdAt, hasMemory, memoryBytes }: Saved): SavedSandbox {
    const id = snapshotId(vm, name)
    return {
      ...{ id, name: unnamed.test(name) ? null : name, sandbox: vm, source: this.runtime, memory: hasMemory },
      ...{ sizeBytes: memoryBytes, createdAt, delete: (options = {}) => this.deleteSnapshot(id, options) },
    }
  }

  #get(name: string, signal: AbortSignal | undefined): Promise<Vm> {
    return this.host.ask(signal, (client) => client.getVm({ name }))
  }

  /** Continues one that is suspended; one that stopped boots. */
  async #goOn(name: string, signal: AbortSignal): Promise<RuntimeInfo> {
    const { status } = await this.#get(name, signal)
    if (status === 'suspended') await this.host.ask(signal, (client) => client.resumeVm({ name }))
    else if (status !== 'running') {
      const { operationId } = await this.host.ask(signal, (client) => client.runVm({ name }))
      await this.host.done(operationId, signal)
    }
    return infoOf(await this.#get(name, signal), await this.#keyOf(name, signal))
  }

  /** The key of a guest's server, as it was stored or as its agent tells; undefined where it asks for none. */
  async #keyOf(name: string, signal: AbortSignal): Promise<string | undefined> {
    return (await storedKey(name)) ?? (await keyByAgent(this.host, name, signal))
  }

  #within<T>(options: CallOptions, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(options, what, work, changeMs)
  }
}

/** A snapshot as the host tells it. */
interface Saved {
  readonly name: string
  readonly createdAt: string
  readonly hasMemory: boolean
  readonly memoryBytes: number
}

/** Milliseconds between two looks at a log that is followed. */
const logEveryMs = 1_000

const vmOf = (line: string): unknown => {
  try {
    return (JSON.parse(line) as { vm?: unknown }).vm
  } catch {
    return undefined
  }
}

const refuseDiskAlone = ({ memory }: CopyOptions, verb: string): void => {
  if (memory !== false) return
  throw new UnsupportedError(`A VM is copied with its running programs. Call \`${verb}\` without { memory: false }.`)
}
