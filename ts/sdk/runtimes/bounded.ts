/** A runtime whose every call ends: at its limit or by the caller's signal, whether or not the runtime heeds them. */
import type { CallOptions, Fields, Listing } from '../basics.ts'
import { timeoutOf, withDeadline } from '../deadline.ts'
import { TimeoutError } from '../errors.ts'
import { listing } from '../sandbox/listing.ts'
import type {
  CopyOptions,
  SandboxOptions,
  SavedSandbox,
  Source,
  WarmPoolInfo,
  WarmPoolOptions,
} from '../sandbox/options.ts'
import type { Transport } from '../transports/transport.ts'
import type { RuntimeCheck, RuntimeFeatures } from './features.ts'
import { type HeldSandbox, Runtime, type StartOptions } from './runtime.ts'
import type { RuntimeInfo } from './runtime-info.ts'

/** Milliseconds that a runtime may take to change something, and to answer a question. */
const changeMs = 120_000
const answerMs = 30_000

const bounds = new WeakMap<Runtime, BoundedRuntime>()

/** The runtime, with limits; the same one each time. */
export const bounded = (runtime: Runtime): Runtime => {
  if (runtime instanceof BoundedRuntime) return runtime
  const made = bounds.get(runtime) ?? new BoundedRuntime(runtime)
  bounds.set(runtime, made)
  return made
}

class BoundedRuntime extends Runtime {
  readonly #runtime: Runtime

  constructor(runtime: Runtime) {
    super()
    this.#runtime = runtime
  }

  get name(): string {
    return this.#runtime.name
  }

  get features(): RuntimeFeatures {
    return this.#runtime.features
  }

  override settings(): Fields {
    // A runtime that another copy of this package made may be older than settings are.
    return this.#runtime.settings?.() ?? {}
  }

  override transport(info: RuntimeInfo): Transport {
    return this.#runtime.transport(info)
  }

  // How long a start, a fork and a claim are waited for, and what becomes of late ones, is decided by who brings sandboxes into being.

  start(source: Source, name: string, options?: StartOptions): Promise<RuntimeInfo> {
    return this.#runtime.start(source, name, options)
  }

  override fork(name: string, forks: readonly string[], options?: CopyOptions): Promise<readonly RuntimeInfo[]> {
    return this.#runtime.fork(name, forks, options)
  }

  override claim(pool: string, name: string, options?: CallOptions): Promise<RuntimeInfo> {
    return this.#runtime.claim(pool, name, options)
  }

  override check(options?: CallOptions): Promise<RuntimeCheck> {
    return this.#within('check', options, answerMs, (limits) => this.#runtime.check(limits))
  }

  stop(name: string, options?: CallOptions): Promise<void> {
    return this.#within('stop', options, changeMs, (limits) => this.#runtime.stop(name, limits))
  }

  isReady(info: RuntimeInfo, options?: CallOptions): Promise<boolean> {
    return this.#within('isReady', options, changeMs, (limits) => this.#runtime.isReady(info, limits))
  }

  suspend(name: string, options?: CallOptions): Promise<void> {
    return this.#within('suspend', options, changeMs, (limits) => this.#runtime.suspend(name, limits))
  }

  resume(source: Source, name: string, options?: SandboxOptions): Promise<RuntimeInfo> {
    return this.#within('resume', options, changeMs, (limits) => this.#runtime.resume(source, name, limits))
  }

  list(options?: CallOptions): Promise<readonly HeldSandbox[]> {
    return this.#within('list', options, answerMs, (limits) => this.#runtime.list(limits))
  }

  override async keep(name: string, options?: CallOptions): Promise<void> {
    await this.#within('keep', options, answerMs, async (limits) => this.#runtime.keep?.(name, limits))
  }

  override snapshot(name: string, options?: CopyOptions & { name?: string }): Promise<SavedSandbox> {
    return this.#within('snapshot', options, changeMs, (limits) => this.#runtime.snapshot(name, limits))
  }

  override restore(name: string, snapshot: SavedSandbox, options?: CallOptions): Promise<RuntimeInfo> {
    return this.#within('restore', options, changeMs, (limits) => this.#runtime.restore(name, snapshot, limits))
  }

  override deleteSnapshot(id: string, options?: CallOptions): Promise<void> {
    return this.#within('deleteSnapshot', options, changeMs, (limits) => this.#runtime.deleteSnapshot(id, limits))
  }

  override applyPool(source: Source, options: WarmPoolOptions): Promise<void> {
    return this.#within('applyPool', options, changeMs, (limits) => this.#runtime.applyPool(source, limits))
  }

  override listSnapshots(options?: CallOptions): Listing<SavedSandbox> {
    return this.#listing('listSnapshots', options, (limits) => this.#runtime.listSnapshots(limits))
  }

  override listPools(options?: CallOptions): Listing<WarmPoolInfo> {
    return this.#listing('listPools', options, (limits) => this.#runtime.listPools(limits))
  }

  /** Each line that is there has the limit; one that is yet to come (`follow`) has none but the signal. */
  override async *logs(name: string, options: CallOptions & { follow?: boolean } = {}): AsyncIterable<string> {
    const lines = this.#runtime.logs(name, options)[Symbol.asyncIterator]()
    const limits = options.follow ? { ...options, timeoutMs: Number.POSITIVE_INFINITY } : options
    try {
      for (;;) {
        const next = await this.#within('logs', limits, answerMs, () => lines.next())
        if (next.done) return
        yield next.value
      }
    } finally {
      // What hangs in a line does not end before that line.
      lines.return?.()?.catch(() => undefined)
    }
  }

  #listing<T>(verb: string, options: CallOptions | undefined, ask: (limits: CallOptions) => Listing<T>): Listing<T> {
    return listing(() =>
      this.#within(verb, options, answerMs, async (limits) => {
        const all: T[] = []
        for await (const each of ask(limits)) all.push(each)
        return all
      }),
    )
  }

  /** Does what `ask` asks; throws the reason of the signal, or `timeout` that names the runtime and the verb. */
  async #within<Options extends CallOptions, T>(
    verb: string,
    options: Options | undefined,
    usualMs: number,
    ask: (limits: Options & CallOptions) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = timeoutOf(options, usualMs)
    const what = `"${verb}" of the runtime "${this.name}"`
    try {
      return await withDeadline({ ...options, timeoutMs }, what, async (signal) =>
        ask({ ...(options as Options), signal, timeoutMs }),
      )
    } catch (error) {
      if (!(error instanceof TimeoutError) || error.data.timeoutMs !== timeoutMs || !error.message.startsWith(what))
        throw error
      throw new TimeoutError('timeout', error.message, { data: { ...error.data, runtime: this.name, verb } })
    }
  }
}
