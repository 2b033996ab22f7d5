/** Images of saved memories, kept for a while after the forks that they were made for: those that come soon share their pages. */
import { stat } from 'node:fs/promises'
import type { MemoryImage } from '../hypervisors/hypervisor.ts'
import type { SavedState } from '../snapshots/saved-state.ts'
import { vmPath } from '../vms/vm-directory.ts'
import type { StoredVm, VmPlace } from '../vms/vm-store.ts'

/** Milliseconds that one is kept after it was used last, and how many are at most. */
const kept = { idleMs: 120_000, most: 4 } as const

/** What makes an image of the memory of a suspended VM. */
export interface ImageMaker {
  share(vm: StoredVm, saved: SavedState): Promise<MemoryImage>
}

interface SharedImage {
  readonly made: Promise<MemoryImage>
  /** How many use it now. */
  users: number
  timer: Timer | undefined
}

export class MemoryImages {
  readonly #kept = new Map<string, SharedImage>()

  constructor(readonly maker: ImageMaker) {}

  /**
   * The image of the memory of a suspended VM, made where there is none; it is let go of by disposing of it. Throws what making
   * it throws.
   */
  async of(vm: StoredVm, saved: SavedState): Promise<MemoryImage> {
    const key = await keyOf(vm)
    const found = this.#kept.get(key)
    // It may be made at a second try: memory that was short is given back.
    if (found !== undefined) return this.#lend(key, found).catch(() => this.of(vm, saved))
    const next: SharedImage = { made: this.maker.share(vm, saved), users: 0, timer: undefined }
    this.#kept.set(key, next)
    return this.#lend(key, next)
  }

  /** The same where one is kept; undefined where none is, or the VM is not suspended. */
  async find(vm: VmPlace): Promise<MemoryImage | undefined> {
    if (this.#kept.size === 0) return undefined
    const key = await keyOf(vm).catch(() => '')
    const found = this.#kept.get(key)
    return found === undefined ? undefined : this.#lend(key, found).catch(() => undefined)
  }

  /** Whether one of the memory of that VM is kept. */
  async has(vm: VmPlace): Promise<boolean> {
    return this.#kept.has(await keyOf(vm).catch(() => ''))
  }

  /** Lets go of those that nobody uses, as when memory is short. */
  drop(): void {
    for (const [key, each] of this.#kept) if (each.users === 0) this.#forget(key, each)
  }

  async #lend(key: string, each: SharedImage): Promise<MemoryImage> {
    each.users += 1
    clearTimeout(each.timer)
    let isLent = true
    const giveBack = () => {
      if (isLent) this.#giveBack(key, each)
      isLent = false
    }
    try {
      const { pages, devices } = await each.made
      return { pages, devices, [Symbol.dispose]: giveBack }
    } catch (error) {
      giveBack()
      this.#forget(key, each)
      throw error
    }
  }

  #giveBack(key: string, each: SharedImage): void {
    each.users -= 1
    if (each.users > 0) return
    each.timer = setTimeout(() => this.#forget(key, each), kept.idleMs)
    each.timer.unref()
    const unused = [...this.#kept].filter(([, { users }]) => users === 0)
    for (const [oldest, one] of unused.slice(0, Math.max(0, this.#kept.size - kept.most))) this.#forget(oldest, one)
  }

  #forget(key: string, each: SharedImage): void {
    clearTimeout(each.timer)
    if (this.#kept.get(key) === each) this.#kept.delete(key)
    each.made.then(
      (image) => image[Symbol.dispose](),
      () => undefined,
    )
  }
}

/** The memory file itself, under whatever names: forks have it under one each, and it is never written to again. */
const keyOf = async ({ path }: VmPlace): Promise<string> => {
  const { dev, ino, size, mtimeMs } = await stat(vmPath(path, 'memory'))
  return `${dev} ${ino} ${size} ${mtimeMs}`
}
