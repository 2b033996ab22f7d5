/** The memory of one saved machine, laid out so that many go on from it: each maps the same pages and has its own of what it writes. */
import { Failure } from '@backlot/contract/failure'
import { core } from '../../core.ts'
import type { MemoryImage } from '../hypervisor.ts'
import { memoryName } from './arguments.ts'
import { loadMemory } from './migration.ts'
import type { Qmp } from './qmp.ts'

/** How a machine that was started to wait for its memory comes to it. */
export interface Resume {
  readonly signal: AbortSignal
  /** Pages that it maps and a file of its devices; absent where all is read from the saved file. */
  readonly image?: MemoryImage | undefined
}

/** A memory image that lies in memory itself: on the drive is the saved memory that it was made of. */
export class QemuMemoryImage implements MemoryImage {
  readonly #pages
  readonly #devices

  /** Throws `host_memory` where the kernel gives none. */
  constructor(name: string, bytes: number) {
    const { MemoryFile } = core()
    try {
      this.#pages = MemoryFile.create(bytes)
      this.#devices = MemoryFile.create(0)
    } catch (error) {
      const why = (error as Error).message
      throw new Failure('host_memory', `The memory of "${name}" cannot be shared: ${why}. End something else.`, {
        name,
      })
    }
  }

  get pages(): number {
    return opened(this.#pages.descriptor)
  }

  get devices(): number {
    return opened(this.#devices.descriptor)
  }

  /**
   * Lays out the saved memory in that file. Nobody changes it from then on: a guest that gives memory back could otherwise take
   * it from the others. Throws `memory_unreadable`.
   */
  fill(saved: string): Promise<void> {
    return this.#pages.fillFrom(saved, memoryName, this.#devices)
  }

  [Symbol.dispose](): void {
    this.#pages.close()
    this.#devices.close()
  }
}

const opened = (descriptor: number | null): number => {
  if (descriptor === null) throw new Error('the memory image is closed')
  return descriptor
}

/** Has a QEMU that maps the image's pages, privately, read the rest; its processor stands still afterwards. */
export const loadImage = (qmp: Qmp, image: MemoryImage, signal: AbortSignal): Promise<void> =>
  // Opened anew by its path: whoever reads through the same descriptor would share the place in the file.
  loadMemory(qmp, `/proc/self/fd/${image.devices}`, signal)
