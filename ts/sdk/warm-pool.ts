/** Started sandboxes that wait. */
import type { CallOptions, Listing } from './basics.ts'
import { invalidArgument, NotFoundError } from './errors.ts'
import type { Runtime } from './runtimes/runtime.ts'
import { listing } from './sandbox/listing.ts'
import { checkName } from './sandbox/names/name.ts'
import type { SandboxOptions, Source, WarmPoolInfo, WarmPoolOptions } from './sandbox/options.ts'
import { machineOf, runtimesFor } from './sandbox/resolve.ts'
import { openSandbox, type Sandbox } from './sandbox/sandbox.ts'
import type { LookupOptions, Where } from './sandbox/where.ts'

/** What `claim` accepts. */
export type ClaimOptions = CallOptions & Pick<SandboxOptions, 'name' | 'ttlMs' | 'labels'>

/** Started sandboxes that wait to be claimed; a pool belongs to its runtime and outlives this program. */
export class WarmPool {
  readonly name: string
  readonly #runtime: Runtime

  private constructor(name: string, runtime: Runtime) {
    this.name = name
    this.#runtime = runtime
  }

  /** Makes a pool that keeps `size` sandboxes ready, or changes the one of that name. */
  static async apply(source: Source, options: WarmPoolOptions & Where): Promise<WarmPool> {
    const { name, size } = options
    checkName(name)
    if (!Number.isInteger(size) || size < 0) {
      const text = `"size" is ${size}; it is a whole number, 0 (which ends the pool) or more.`
      throw invalidArgument('size', text)
    }
    const [runtime] = await runtimesFor(options, 'pool')
    await runtime.applyPool(source, options)
    return new WarmPool(name, runtime)
  }

  /** The pool of that name; throws `pool_not_found`. */
  static async get(name: string, options: LookupOptions = {}): Promise<WarmPool> {
    checkName(name)
    const found = (await WarmPool.list(options)).find((each) => each.name === name)
    if (found === undefined) throw poolNotFound(name)
    return found
  }

  /** The pools there are. */
  static list(options: LookupOptions = {}): Listing<WarmPool> {
    return listing(async () => {
      const found: WarmPool[] = []
      for (const runtime of await runtimesFor(options, 'pool')) {
        for await (const { name } of runtime.listPools(options)) found.push(new WarmPool(name, runtime))
      }
      return found
    })
  }

  /** Takes a ready sandbox, ephemeral from then on, or waits for one; another is started behind it. */
  async claim(options: ClaimOptions = {}): Promise<Sandbox> {
    const machine = await machineOf(this.#runtime)
    return openSandbox(await machine.claim(this.name, options))
  }

  /** How full it is now. */
  async getInfo(options: CallOptions = {}): Promise<WarmPoolInfo> {
    for await (const info of this.#runtime.listPools(options)) if (info.name === this.name) return info
    throw poolNotFound(this.name)
  }

  /** Ends the pool and what waits in it; claimed sandboxes go on. */
  async delete(options: CallOptions = {}): Promise<void> {
    const { Image } = await import('./image/image.ts')
    // Of size 0 nothing is started, so that it does not matter from what.
    await this.#runtime.applyPool(Image.desktop(), { ...options, name: this.name, size: 0 })
  }
}

const poolNotFound = (name: string): NotFoundError =>
  new NotFoundError('pool_not_found', `There is no pool "${name}". \`WarmPool.list()\` names those there are.`, {
    data: { name },
  })
