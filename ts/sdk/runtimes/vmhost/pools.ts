/** Pools of sandboxes that are VMs: the host keeps forks of a template running, and each claim takes one. */
import { BacklotError, invalidArgument, NotFoundError, UnsupportedError } from '../../errors.ts'
import type { Image } from '../../image/image.ts'
import { isImage } from '../../sandbox/checks.ts'
import type { Source, WarmPoolInfo, WarmPoolOptions } from '../../sandbox/options.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import type { VmHost } from './host.ts'
import { type KeptPool, keepPool, keptPool, keptPools, removePoolRecord } from './pool-records.ts'
import { hostImage } from './sources.ts'
import { forkOf, templateFor } from './templates.ts'

/** The pools of a runtime. */
export class VmPools {
  constructor(
    readonly runtime: string,
    readonly host: VmHost,
  ) {}

  async apply(source: Source, options: WarmPoolOptions, signal: AbortSignal): Promise<void> {
    const { name, size, ...shared } = options
    const before = await this.#find(name)
    if (size === 0) return this.#end(name, before, signal)
    if (!isImage(source)) throw new UnsupportedError('A pool of VMs starts from an image.')
    const image = source as Image
    const from = await hostImage(this.host, image, shared, signal)
    const template = await templateFor(this.host, image, from, shared, signal, true)
    if (template === undefined) {
      const next = 'Pull or import it first, or build one here: `backlot image build linux-minimal`.'
      throw new UnsupportedError(`A pool of VMs is of an image with Linux that is on this machine. ${next}`)
    }
    const other = (await keptPools()).find((each) => each.template === template && each.name !== name)
    if (other !== undefined) {
      const text = `The pool "${other.name}" is of the same sandboxes; change its size, or end it first.`
      throw invalidArgument('name', text)
    }
    if (before !== undefined && before.template !== template) await this.#end(name, before, signal)
    await keepPool({ name, runtime: this.runtime, template })
    await this.host.ask(signal, (client) => client.poolVm({ name: template, size }))
  }

  async list(signal: AbortSignal | undefined): Promise<WarmPoolInfo[]> {
    const mine = (await keptPools()).filter(({ runtime }) => runtime === this.runtime)
    const found = await Promise.all(
      mine.map(async ({ name, template }) => {
        const pool = await this.host.ask(signal, (client) => client.poolVm({ name: template })).catch(unlessGone)
        const { size = 0, ready = 0 } = pool ?? {}
        return { name, size, ready, starting: Math.max(0, size - ready) }
      }),
    )
    return found
  }

  /** One that is ready, or a fork that is made now; throws `pool_not_found`. */
  async claim(pool: string, name: string, signal: AbortSignal): Promise<RuntimeInfo> {
    const kept = await this.#find(pool)
    if (kept === undefined) throw poolNotFound(pool)
    const info = await forkOf(this.host, kept.template, name, signal).catch(unlessGone)
    if (info === undefined) throw poolNotFound(pool)
    return info
  }

  async #find(name: string): Promise<KeptPool | undefined> {
    const kept = await keptPool(name)
    return kept?.runtime === this.runtime ? kept : undefined
  }

  async #end(name: string, kept: KeptPool | undefined, signal: AbortSignal): Promise<void> {
    if (kept === undefined) return
    await this.host.ask(signal, (client) => client.poolVm({ name: kept.template, size: 0 })).catch(unlessGone)
    await removePoolRecord(name)
  }
}

/** Whoever lacks a template finds its pool gone. */
const unlessGone = (error: unknown): undefined => {
  if (!BacklotError.is(error) || error.code !== 'sandbox_not_found') throw error
}

const poolNotFound = (name: string): NotFoundError => {
  const next = '`WarmPool.apply` makes it.'
  return new NotFoundError('pool_not_found', `There is no pool "${name}" of VMs. ${next}`, { data: { name } })
}
