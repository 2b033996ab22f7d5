/** Keeps the pools of a host as large as they are to be, and hands their forks out. */
import { stat } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { memoryBytes } from '@backlot/native/machine'
import { makeForks, ownCopies } from '../forks/make-forks.ts'
import { finishIdentity } from '../forks/wake.ts'
import type { Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import { collectBases } from '../lifecycle/collect.ts'
import { exclusively, reread } from '../lifecycle/find.ts'
import { resumeAfterSnapshot } from '../lifecycle/snapshot.ts'
import { readSaved } from '../snapshots/saved-state.ts'
import { poolPrefix, vmPath } from '../vms/vm-directory.ts'
import { placeOf, type StoredVm, type VmPlace } from '../vms/vm-store.ts'
import { claimFork } from './hand-out.ts'
import { sizeOfPool } from './pool-file.ts'
import type { ForkRequest, Identity, PoolState, Pools } from './pools.ts'
import { poolSize } from './size.ts'

/** Milliseconds between two looks at the parents and the memory, and after a fork could not be made. */
const pauses = { looksMs: 1_000, failedMs: 15_000 } as const
/** Bytes that a fork takes beside the memory that it may come to write. */
const hypervisorBytes = 32 * 2 ** 20

interface Pool {
  readonly parent: VmPlace
  size: number
  /** The saved memory that its forks went on from, by its file; undefined where the parent is not suspended. */
  memory: string | undefined
  forks: VmPlace[]
  /** Whether memory allowed fewer than `size` at the last look. */
  isMemoryShort: boolean
  /** The look under way at it; undefined between looks. */
  settling: Promise<void> | undefined
  /** Nothing is made before, by the clock of this process. */
  restsUntil: number
}

export class WarmPools implements Pools {
  readonly #pools = new Map<string, Pool>()
  #timer: Timer | undefined
  #isEnding = false

  /** `host` is asked for when there is work only. */
  constructor(readonly host: () => Host) {}

  keep(parent: VmPlace, size: number): void {
    const pool = this.#pools.get(parent.path)
    if (pool !== undefined) Object.assign(pool, { size, restsUntil: 0 })
    else if (size > 0) {
      const empty = { memory: undefined, forks: [], isMemoryShort: false, settling: undefined, restsUntil: 0 }
      this.#pools.set(parent.path, { parent, size, ...empty })
    }
    this.#timer ??= setInterval(() => this.#look(), pauses.looksMs).unref()
    this.#look()
  }

  state({ path }: VmPlace): PoolState {
    const pool = this.#pools.get(path)
    return { ready: pool?.forks.length ?? 0, isMemoryShort: pool?.isMemoryShort ?? false }
  }

  async take(parent: StoredVm, asked: ForkRequest, work: Task): Promise<Identity | undefined> {
    const pool = this.#pools.get(parent.path)
    if (pool === undefined || pool.memory !== (await memoryOf(parent))) return undefined
    const fork = pool.forks.shift()
    if (fork === undefined) return undefined
    work.step('taking one that is ready')
    try {
      return await claimFork(this.host(), fork, asked, work)
    } catch (error) {
      if (work.signal.aborted || Failure.from(error).code === 'vm_exists') throw error
      work.message(`one that was ready cannot be used: ${(error as Error).message}`)
      return undefined
    } finally {
      // Nothing is there any more where it has got its name.
      await this.#remove(fork)
      this.#look()
    }
  }

  /** Makes no more forks from now on; those under way are operations, to be cancelled. */
  stop(): void {
    this.#isEnding = true
    clearInterval(this.#timer)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop()
    // Whoever cancelled its operation before waits for little here.
    await Promise.all([...this.#pools.values()].map(({ settling }) => settling))
    const left = [...this.#pools.values()].flatMap(({ forks }) => forks.splice(0))
    await Promise.all(left.map((fork) => this.#remove(fork)))
  }

  #look(): void {
    for (const [path, pool] of this.#pools) {
      if (pool.settling !== undefined || this.#isEnding) continue
      pool.settling = this.#settle(path, pool)
        .catch((error) => this.#report(pool, error))
        .finally(() => {
          pool.settling = undefined
        })
    }
  }

  async #settle(path: string, pool: Pool): Promise<void> {
    const { machines } = this.host()
    // The VM may have been deleted or moved, and another have its name.
    pool.size = sizeOfPool(path)
    const memory = await memoryOf(pool.parent)
    if (memory !== pool.memory) await this.#shrink(pool, 0)
    pool.memory = memory
    const ended = pool.forks.filter((fork) => machines.get(fork.path) === undefined)
    pool.forks = pool.forks.filter((fork) => !ended.includes(fork))
    for (const fork of ended) await this.#remove(fork)
    const size = memory === undefined ? 0 : await this.#sizeNow(pool)
    pool.isMemoryShort = memory !== undefined && size < pool.size
    if (pool.forks.length > size) await this.#shrink(pool, size)
    if (pool.forks.length < size && performance.now() >= pool.restsUntil && !this.#isEnding) await this.#grow(pool)
    if (pool.size === 0 && pool.forks.length === 0) this.#pools.delete(path)
  }

  async #sizeNow({ parent, size, forks }: Pool): Promise<number> {
    const saved = await stat(vmPath(parent.path, 'memory'))
    return poolSize({
      ...{ wanted: size, present: forks.length, eachBytes: saved.size + hypervisorBytes },
      ...{ totalBytes: memoryBytes('MemTotal'), availableBytes: memoryBytes('MemAvailable') },
    })
  }

  async #shrink(pool: Pool, size: number): Promise<void> {
    const less = pool.forks.splice(size)
    for (const fork of less) await this.#remove(fork)
    if (less.length > 0) await collectBases(this.host(), pool.parent.storage)
  }

  /** Makes one more; the next look makes those after it. */
  async #grow(pool: Pool): Promise<void> {
    const fork = placeOf(pool.parent.storage, `${poolPrefix}${crypto.randomUUID()}`)
    const { done } = this.host().operations.begin('pool', pool.parent, (work) => this.#make(pool, fork, work))
    try {
      await done
      pool.forks.push(fork)
    } catch (error) {
      pool.restsUntil = performance.now() + pauses.failedMs
      await this.#remove(fork)
      throw error
    }
  }

  async #make({ parent, memory }: Pool, fork: VmPlace, work: Task): Promise<void> {
    const host = this.host()
    const lay = async () => {
      const vm = await reread(host, parent)
      const saved = await readSaved(vm.path)
      if (saved === undefined || (await memoryOf(vm)) !== memory) throw gone(parent)
      work.step('sharing the memory')
      const image = await host.images.of(vm, saved).catch(ownCopies(work))
      try {
        await makeForks(host, vm, saved, { names: [fork.name] }, work.signal)
        return image
      } catch (error) {
        image?.[Symbol.dispose]()
        throw error
      }
    }
    using image = await exclusively(host, parent, lay, work.signal)
    const wake = async () => {
      const machine = await resumeAfterSnapshot(host, fork, work, image)
      if (machine === undefined) throw gone(parent)
      await finishIdentity(host, fork, machine, work)
      work.signal.throwIfAborted()
    }
    await exclusively(host, fork, wake, work.signal)
  }

  /** Ends and removes a fork, whatever is there of it. */
  async #remove(fork: VmPlace): Promise<void> {
    const { machines, store } = this.host()
    try {
      const machine = machines.get(fork.path)
      await machine?.kill()
      await machine?.ended
      if ((await store.at(fork.path)) !== undefined) await store.remove(fork)
    } catch (error) {
      this.#report({ parent: fork }, error)
    }
  }

  #report({ parent }: Pick<Pool, 'parent'>, error: unknown): void {
    if (this.#isEnding) return
    const { code, message } = Failure.from(error)
    this.host().log.write('error', code, { vm: parent.name, message })
  }
}

/** The saved memory of a VM, by its file; undefined where it is not suspended. */
const memoryOf = async ({ path }: VmPlace): Promise<string | undefined> => {
  if ((await readSaved(path).catch(() => undefined)) === undefined) return undefined
  const found = await stat(vmPath(path, 'memory')).catch(() => undefined)
  return found && `${found.dev} ${found.ino} ${found.mtimeMs}`
}

const gone = ({ name }: VmPlace): Failure =>
  new Failure('vm_not_suspended', `"${name}" is not suspended any more.`, { name })
