/** A pool: so many sandboxes that are ready, of which each is given away once. */
import { Failure } from '@backlot/contract/failure'
import { type Claim, type PoolInfo, type SandboxInfo, sizeByMemory } from '@backlot/local'
import { type Member, type PoolKind, startMember } from './member.ts'

/** Sandboxes that start at the same time: each takes a processor for most of a second. */
const mostAtOnce = 2

/** Milliseconds after which it is looked again whether there is memory, and after which a start that failed is tried again. */
const recheckMs = 5_000

/** Milliseconds that who claimed a sandbox has to say that it has it; then it is ended. */
const keepMs = 15_000

/** Someone who waits for a sandbox. */
interface Waiter {
  settle(): void
  refuse(error: unknown): void
}

/** Keeps sandboxes ready until it is ended. */
export class Pool implements AsyncDisposable {
  readonly #ready: Member[] = []
  readonly #waiters = new Set<Waiter>()
  readonly #claimed = new Map<string, { member: Member; timer: NodeJS.Timeout }>()
  readonly #work = new Set<Promise<unknown>>()
  #starting = 0
  #reason: string | null = null
  #lastFailure: string | null = null
  #again: NodeJS.Timeout | null = null
  #kept = 0
  #isEnding = false

  constructor(
    readonly name: string,
    readonly kind: PoolKind,
    /** How many to keep ready; null for what is usual. */
    readonly asked: { size: number | null },
  ) {}

  /** How full it is. */
  get info(): PoolInfo {
    return {
      name: this.name,
      size: this.asked.size ?? this.#kept,
      kept: this.#kept,
      ready: this.#ready.length,
      starting: this.#starting,
      warnings: [this.#reason, this.#lastFailure].filter((each) => each !== null),
    }
  }

  /** Starts what is missing, as far as memory allows, and ends what is too much. */
  fill(): void {
    if (this.#isEnding) return
    const { size, reason } = sizeByMemory(this.asked.size, this.#ready.length + this.#starting)
    this.#kept = size
    this.#reason = reason
    while (this.#ready.length > size) this.#do((this.#ready.pop() as Member).end())
    if (reason !== null) this.#lookAgain()
    while (this.#starting < mostAtOnce && this.#ready.length + this.#starting < size && this.#lastFailure === null) {
      this.#do(this.#start())
    }
    if (size === 0) this.#refuse(new Failure('host_memory', `The pool "${this.name}" is empty. ${reason ?? ''}`))
  }

  /** Takes one that is ready and well, or waits for one. What is given away is ended unless `keep` follows. */
  async claim(claim: Claim, signal: AbortSignal): Promise<SandboxInfo> {
    for (;;) {
      const member = this.#ready.shift()
      if (member === undefined) {
        this.fill()
        await this.#oneReady(signal)
        continue
      }
      try {
        const info = (await member.ask({ claim })) as unknown as SandboxInfo
        const giveUp = () => this.#do(this.#drop(info.name))
        this.#claimed.set(info.name, { member, timer: setTimeout(giveUp, keepMs) })
        if (signal.aborted) giveUp()
        this.fill()
        return info
      } catch (error) {
        const { code } = Failure.from(error)
        if (code === 'sandbox_exists' || code === 'sandbox_busy' || code === 'invalid_argument') {
          this.#ready.unshift(member)
          throw error
        }
        // A sandbox that does not answer is given to nobody.
        this.#do(member.end())
        this.fill()
      }
    }
  }

  /** Makes one that was claimed stay; throws `sandbox_not_found` where that came too late. */
  async keep(name: string): Promise<void> {
    const held = this.#claimed.get(name)
    if (held === undefined) throw new Failure('sandbox_not_found', `"${name}" was claimed too long ago; claim another.`)
    clearTimeout(held.timer)
    this.#claimed.delete(name)
    await held.member.ask({ keep: true })
    held.member.leave()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true
    if (this.#again !== null) clearTimeout(this.#again)
    this.#refuse(new Failure('pool_not_found', `The pool "${this.name}" has been ended.`, { name: this.name }))
    for (const name of this.#claimed.keys()) this.#do(this.#drop(name))
    for (const member of this.#ready.splice(0)) this.#do(member.end())
    while (this.#work.size > 0) await Promise.allSettled(this.#work)
  }

  async #start(): Promise<void> {
    this.#starting += 1
    try {
      const member = await startMember(this.kind)
      if (this.#isEnding) return await member.end()
      this.#ready.push(member)
      void member.ended.then(() => {
        const at = this.#ready.indexOf(member)
        if (at === -1) return
        this.#ready.splice(at, 1)
        this.fill()
      })
      const [first] = this.#waiters
      first?.settle()
    } catch (error) {
      this.#lastFailure = `A sandbox did not start: ${(error as Error).message}`
      this.#refuse(error)
      this.#lookAgain()
    } finally {
      this.#starting -= 1
    }
    this.fill()
  }

  /** Settles when there may be one; rejects where none starts, or who waits has gone. */
  #oneReady(signal: AbortSignal): Promise<void> {
    if (this.#ready.length > 0) return Promise.resolve()
    if (this.#lastFailure !== null) throw new Failure('sandbox_not_started', this.#lastFailure)
    if (this.#starting === 0)
      throw new Failure('host_memory', `The pool "${this.name}" is empty. ${this.#reason ?? ''}`)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { settle: resolve, refuse: reject }
    const leave = () => reject(new Failure('cancelled', 'Who claimed a sandbox has gone.'))
    signal.addEventListener('abort', leave, { once: true })
    this.#waiters.add(waiter)
    return promise.finally(() => {
      this.#waiters.delete(waiter)
      signal.removeEventListener('abort', leave)
    })
  }

  #refuse(error: unknown): void {
    for (const waiter of this.#waiters) waiter.refuse(error)
  }

  async #drop(name: string): Promise<void> {
    const held = this.#claimed.get(name)
    if (held === undefined) return
    clearTimeout(held.timer)
    this.#claimed.delete(name)
    await held.member.end()
  }

  #lookAgain(): void {
    if (this.#again !== null || this.#isEnding) return
    this.#again = setTimeout(() => {
      this.#again = null
      this.#lastFailure = null
      this.fill()
    }, recheckMs)
  }

  #do(work: Promise<unknown>): void {
    const done = work.catch(() => undefined).finally(() => this.#work.delete(done))
    this.#work.add(done)
  }
}
