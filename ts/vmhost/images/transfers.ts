/** Pulls, pushes and imports that go on when the service is started again: each has a file for as long as it is under way. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { makeFolder, replaceFile, syncFolder } from '../files/durable.ts'
import { fileFailure } from '../files/file-failure.ts'
import type { Operations, StartedTask, Task } from '../host/operations.ts'
import type { VmPlace } from '../vms/vm-store.ts'

/** What is to be done; `input` is all that doing it again needs. */
export interface Transfer<Input = unknown> {
  readonly id: string
  readonly kind: 'pull' | 'push' | 'import'
  readonly place: VmPlace
  readonly input: Input
}

/** Those of a host. */
export class Transfers {
  /** Folders of the VMs that are being pulled. */
  readonly #pulled = new Set<string>()

  constructor(
    readonly folder: string,
    readonly operations: Operations,
  ) {}

  /** Begins one once it would survive a power cut; whoever is told so is told the truth. */
  async begin<Input, T>(transfer: Transfer<Input>, work: (work: Task) => Promise<T>): Promise<StartedTask<T>> {
    const { path, name } = transfer.place
    if (transfer.kind === 'pull') {
      if (this.#pulled.has(path)) {
        throw new Failure('vm_exists', `A VM "${name}" is being pulled to "${path}" already; name another.`, { name })
      }
      this.#pulled.add(path)
    }
    try {
      await makeFolder(this.folder)
      await replaceFile(this.#path(transfer), JSON.stringify(transfer))
    } catch (error) {
      this.#pulled.delete(path)
      throw fileFailure(error, this.folder)
    }
    return this.goOn(transfer, work)
  }

  /** Goes on with one that has its file. */
  goOn<T>({ kind, place, id }: Transfer, work: (work: Task) => Promise<T>): StartedTask<T> {
    if (kind === 'pull') this.#pulled.add(place.path)
    const noted = async (its: Task): Promise<T> => {
      try {
        return await work(its)
      } finally {
        if (kind === 'pull') this.#pulled.delete(place.path)
        // What ends because the service ends is not over.
        if (!this.operations.isEnding) await this.#forget(id)
      }
    }
    return this.operations.begin(kind, place, noted, id)
  }

  /** Those that a service before this one has not ended. */
  async left(): Promise<Transfer[]> {
    const files = await readdir(this.folder).catch(() => [])
    const found: Transfer[] = []
    for (const file of files.filter((each) => each.endsWith('.json') && !each.startsWith('.'))) {
      try {
        found.push(JSON.parse(await readFile(join(this.folder, file), 'utf8')) as Transfer)
      } catch {
        // Nobody knows what it was to be.
        await rm(join(this.folder, file), { force: true })
      }
    }
    return found
  }

  async #forget(id: string): Promise<void> {
    await rm(this.#path({ id }), { force: true })
    await syncFolder(this.folder)
  }

  #path({ id }: Pick<Transfer, 'id'>): string {
    return join(this.folder, `${id}.json`)
  }
}
