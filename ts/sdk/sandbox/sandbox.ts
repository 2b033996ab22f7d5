/** A computer of its own. */
import type { CallOptions, Listing } from '../basics.ts'
import { Computer } from '../computer.ts'
import { InvalidArgumentError, invalidArgument } from '../errors.ts'
import { androidOnly } from '../interfaces/android-only.ts'
import { type Mobile, mobileOf } from '../interfaces/mobile.ts'
import { type Tunnels, tunnelsOf } from '../interfaces/tunnel.ts'
import { type Snapshot, snapshotOf } from '../snapshot.ts'
import type { DisplayUrlOptions } from '../transports/transport.ts'
import { addressIn } from './address.ts'
import { checkOptions, checkTtl } from './checks.ts'
import { listing } from './listing.ts'
import { endWithProgram, forget } from './machine/ephemeral.ts'
import { checkName } from './names/name.ts'
import type { CopyOptions, SandboxInfo, SavedSandbox, Source } from './options.ts'
import type { ConnectedSandbox, SandboxReference } from './provider.ts'
import { providerFor, providerOf } from './resolve.ts'
import type { ConnectOptions, CreateOptions, ListOptions, LookupOptions } from './where.ts'

let open: (held: ConnectedSandbox) => Sandbox

/** A computer of its own, from which the host cannot be reached. */
export class Sandbox extends Computer {
  readonly name: string
  /** The runtime's key, or `cloud`; `address` for one that was connected to by address. */
  readonly source: string
  readonly tunnel: Tunnels
  /** An Android device's touch screen and keys; on others each method throws `unsupported`. */
  readonly mobile: Mobile
  readonly #held: ConnectedSandbox
  #isEphemeral: boolean
  #isDestroyed = false

  private constructor(held: ConnectedSandbox) {
    super(held.transport)
    this.name = held.name
    this.source = held.source
    this.tunnel = tunnelsOf(held.transport)
    this.mobile = mobileOf(held.transport, androidOnly(held.transport, held.name, held.isAndroid))
    this.#held = held
    this.#isEphemeral = held.ephemeral
    if (held.ephemeral) endWithProgram(held, () => this.#release())
  }

  /** Whether it ends with its scope or with this program. */
  get ephemeral(): boolean {
    return this.#isEphemeral
  }

  /** Starts a sandbox that stays until it is deleted. */
  static create(source: Source, options: CreateOptions = {}): Promise<Sandbox> {
    return Sandbox.#start(source, options, false)
  }

  /**
   * Starts a sandbox that ends with its scope or with this program. Where the program is killed, dies of an error or calls `process.exit`, it ends
   * when the next program that uses this package lists, creates or looks for sandboxes.
   */
  static ephemeral(source: Source, options: CreateOptions = {}): Promise<Sandbox> {
    return Sandbox.#start(source, options, true)
  }

  static async #start(source: Source, options: CreateOptions, ephemeral: boolean): Promise<Sandbox> {
    checkOptions(source, options)
    options.signal?.throwIfAborted()
    const provider = await providerFor(options, source as { source?: unknown })
    return new Sandbox(await provider.create(source, options, ephemeral))
  }

  /** Connects to a sandbox by name, or by address to any computer server; disposal only disconnects. */
  static async connect(name: string, options: ConnectOptions = {}): Promise<Sandbox> {
    options.signal?.throwIfAborted()
    const address = addressIn(options)
    if (address !== undefined) {
      const { AddressProvider } = await import('./addressed.ts')
      return new Sandbox(await new AddressProvider(address).connect(name, options))
    }
    const provider = await providerOf(name, options as LookupOptions)
    return new Sandbox(await provider.connect(name, options))
  }

  /** The sandboxes there are, newest first. */
  static list(options: ListOptions = {}): Listing<SandboxInfo> {
    return listing(async () => {
      const { status, labels = {}, pageSize } = options
      if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize > 0)) {
        throw new InvalidArgumentError(
          'invalid_argument',
          `"pageSize" is ${pageSize}; it is a whole number, 1 at least.`,
        )
      }
      const infos = await (await providerFor(options)).list(options)
      const wanted = Object.entries(labels)
      return infos.filter(
        (info) =>
          (status === undefined || info.status === status) &&
          wanted.every(([key, value]) => info.labels[key] === value),
      )
    })
  }

  /** What is known of a sandbox; throws `sandbox_not_found`, as do the next five. */
  static async getInfo(name: string, options: LookupOptions = {}): Promise<SandboxInfo> {
    return (await providerOf(name, options)).getInfo(byName(name), options)
  }

  /** Stops a sandbox and saves it; what of it is kept is said by its runtime's `features.suspend`. */
  static async suspend(name: string, options: LookupOptions = {}): Promise<void> {
    return (await providerOf(name, options)).suspend(byName(name), options)
  }

  /** Continues a suspended sandbox, and connects to it; one that runs is connected to. */
  static async resume(name: string, options: LookupOptions = {}): Promise<Sandbox> {
    return new Sandbox(await (await providerOf(name, options)).resume(byName(name), options))
  }

  /** Suspends and resumes a sandbox, and connects to it. */
  static async restart(name: string, options: LookupOptions = {}): Promise<Sandbox> {
    return new Sandbox(await (await providerOf(name, options)).restart(byName(name), options))
  }

  /** Deletes a sandbox, running or suspended, with its disk. */
  static async delete(name: string, options: LookupOptions = {}): Promise<void> {
    return (await providerOf(name, options)).delete(byName(name), options)
  }

  /** The lines of a sandbox's log, also of one that did not start, where its runtime is named. */
  static async *logs(name: string, options: LookupOptions & { follow?: boolean } = {}): AsyncIterable<string> {
    yield* (await providerOf(name, options)).logs(checkName(name), options)
  }

  /** What is known of it now. */
  getInfo(options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#held.provider.getInfo(this.#held, options)
  }

  /** Address of the live screen; throws `unsupported` without a display, and for `share` outside the cloud. */
  getDisplayUrl(options: DisplayUrlOptions = {}): Promise<string> {
    return this.#held.provider.getDisplayUrl(this.#held, options)
  }

  /** Copies this running sandbox, which goes on; the copies are ephemeral and end together with the array. */
  async fork(count: number, options: CopyOptions = {}): Promise<readonly Sandbox[] & AsyncDisposable> {
    if (!Number.isInteger(count) || count < 1 || count > 1_000) {
      const text = `"count" is ${count}; it is a whole number from 1 to 1000.`
      throw invalidArgument('count', text)
    }
    const forks = (await this.#held.provider.fork(this.#held, count, options)).map((held) => new Sandbox(held))
    const end = async () => {
      const ended = await Promise.allSettled(forks.map((fork) => fork[Symbol.asyncDispose]()))
      const failed = ended.find((each) => each.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
    return Object.assign(forks, { [Symbol.asyncDispose]: end })
  }

  /** Saves this running sandbox, which goes on, as a source for others. */
  async snapshot(options: CopyOptions & { name?: string } = {}): Promise<Snapshot> {
    return snapshotOf(await this.#held.provider.snapshot(this.#held, options))
  }

  /** Puts this sandbox back to a snapshot of its own. */
  async restore(snapshot: SavedSandbox, options: CallOptions = {}): Promise<void> {
    const { transport } = await this.#held.provider.restore(this.#held, snapshot, options)
    await this.disconnect()
    // What was connected to is another process now, perhaps at another address.
    const { name, source, ...computer } = new Sandbox({ ...this.#held, transport, ephemeral: false })
    Object.assign(this, computer)
  }

  /** Makes an ephemeral sandbox stay. */
  async keep(options: CallOptions = {}): Promise<void> {
    await this.#held.provider.keep(this.#held, options)
    this.#isEphemeral = false
    forget(this.#held)
  }

  /** Sets how many milliseconds from now it ends by itself; `null`: it does not. */
  async setTtl(ttlMs: number | null, options: CallOptions = {}): Promise<void> {
    checkTtl(ttlMs)
    await this.#held.provider.setTtl(this.#held, ttlMs, options)
  }

  /** Disconnects and deletes it with its disk; a second time does nothing. */
  async destroy(options: CallOptions = {}): Promise<void> {
    if (this.#isDestroyed) return
    await this.disconnect()
    await this.#held.provider.delete(this.#held, options)
    this.#isDestroyed = true
    forget(this.#held)
  }

  /** Disconnects; an ephemeral sandbox is destroyed. */
  override async [Symbol.asyncDispose](): Promise<void> {
    await (this.#isEphemeral ? this.#release() : this.disconnect())
  }

  /** Ends an ephemeral sandbox, unless another program made it stay. */
  async #release(): Promise<void> {
    await this.disconnect()
    if (this.#isDestroyed) return
    await this.#held.provider.release(this.#held, {})
    this.#isDestroyed = true
    forget(this.#held)
  }

  static {
    open = (held) => new Sandbox(held)
  }
}

/** The sandbox of what is held, for the parts of this package that obtain one. */
export const openSandbox = (held: ConnectedSandbox): Sandbox => open(held)

const byName = (name: string): SandboxReference => ({ name: checkName(name), id: null })
