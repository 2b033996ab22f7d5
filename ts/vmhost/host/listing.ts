/** The list of VMs, made afresh when something may have changed and not for every look. */
import { statSync } from 'node:fs'
import type { Vm } from '@backlot/contract/vmhost/vm'
import type { Storage } from '../storage/storage.ts'

/** Milliseconds for which a list is good at most: a guest writes to its disk, and a person edits files, without a word. */
const goodForMs = { whileSomethingRuns: 200, usual: 1_000 }

interface CachedListing {
  readonly key: string
  readonly at: number
  readonly vms: Vm[]
}

/** JSON texts of answers that are given many times. */
export const texts = new WeakMap<object, string>()

/** The lists that were asked for last. */
export class Listing {
  readonly #made = new Map<string, CachedListing>()

  /** `changes` counts what happened; `make` makes the list when that, or a folder, is another than before. */
  async get(
    storages: readonly Storage[],
    changes: number,
    isAnyRunning: boolean,
    make: () => Promise<Vm[]>,
  ): Promise<Vm[]> {
    const name = storages.map(({ name, path }) => `${name}=${path}`).join('\n')
    const key = `${changes} ${storages.map(({ path }) => changed(path))}`
    const known = this.#made.get(name)
    const age = performance.now() - (known?.at ?? 0)
    if (known?.key === key && age < goodForMs[isAnyRunning ? 'whileSomethingRuns' : 'usual']) return known.vms
    const at = performance.now()
    const vms = await make()
    texts.set(vms, JSON.stringify(vms))
    this.#made.delete(name)
    this.#made.set(name, { key, at, vms })
    const [oldest] = this.#made.keys()
    if (this.#made.size > mostLists && oldest !== undefined) this.#made.delete(oldest)
    return vms
  }
}

/** Lists that are kept, one for each choice of storages. */
const mostLists = 8

/** When an entry of the folder was made, removed or renamed last. */
const changed = (folder: string): string => {
  try {
    const { ino, mtimeNs } = statSync(folder, { bigint: true })
    return `${ino}/${mtimeNs}`
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}
