/** Finding a sandbox of this machine by its name: its record, and who holds it. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import { ConflictError, NotFoundError } from '../../errors.ts'
import { chosenFor, isMeant, runtimeOf } from '../../runtimes/known.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import type { Records } from '../../state/records.ts'
import type { SandboxReference } from '../provider.ts'
import { unknownRuntime } from '../refusals.ts'
import { endDueLocked, endIfDue } from './end.ts'

/** Among all sandboxes, or with `chosen` among those of one runtime. */
export class Lookup {
  constructor(
    readonly records: Records,
    readonly chosen: Runtime | undefined,
  ) {}

  /** The record of a name, whose lock is held or not; throws `sandbox_not_found`, also for one whose time is over. */
  async record({ name, id }: SandboxReference, isLocked = false): Promise<SandboxRecord> {
    const found = await this.records.read(name)
    const record = found && (isLocked ? await endDueLocked(this.records, name) : await endIfDue(this.records, found))
    const isThere = record !== undefined && (id === null || record.id === id)
    if (isThere && (this.chosen === undefined || isMeant(this.chosen, record))) return record
    throw this.notFound(name, isThere ? record : undefined)
  }

  /** The record, and the runtime that holds the sandbox; throws `runtime_unavailable` where this program does not know it. */
  async find(named: SandboxReference, isLocked = false): Promise<{ record: SandboxRecord; runtime: Runtime }> {
    const record = await this.record(named, isLocked)
    return { record, runtime: this.runtimeOf(record) }
  }

  runtimeOf(record: SandboxRecord): Runtime {
    const runtime = this.holderOf(record)
    if (runtime === undefined) throw unknownRuntime(record)
    return runtime
  }

  /** The same; undefined where this program does not know it. */
  holderOf(record: SandboxRecord): Runtime | undefined {
    return this.chosen === undefined ? runtimeOf(record) : chosenFor(this.chosen, record)
  }

  /**
   * Who ends a sandbox, and whether its state file goes with it: also one whose state file is damaged, or that has none of its own,
   * if the caller means whatever has that name and chose the runtime.
   */
  async runtimeToEnd(named: SandboxReference): Promise<{ runtime: Runtime; hasRecord: boolean }> {
    try {
      return { runtime: (await this.find(named, true)).runtime, hasRecord: true }
    } catch (error) {
      const { chosen } = this
      // What a later version wrote is for a later version to delete.
      const isDamaged =
        error instanceof ConflictError && error.code === 'state_unusable' && error.data.format === undefined
      if (chosen === undefined || named.id !== null) throw error
      if (isDamaged) return { runtime: chosen, hasRecord: true }
      // A state file of that name is of another runtime.
      if (error instanceof NotFoundError && (await holds(chosen, named.name)))
        return { runtime: chosen, hasRecord: false }
      throw error
    }
  }

  notFound(name: string, elsewhere?: SandboxRecord): NotFoundError {
    const where = this.chosen === undefined ? 'This machine' : `The runtime "${this.chosen.name}"`
    const settings = elsewhere?.runtime === this.chosen?.name ? ` with other settings` : ''
    const hint = elsewhere === undefined ? '' : ` There is one of the runtime "${elsewhere.runtime}"${settings}.`
    const text = `${where} has no sandbox "${name}".${hint} \`Sandbox.list({ local: true })\` names those there are.`
    return new NotFoundError('sandbox_not_found', text, { data: { name } })
  }
}

const holds = async (runtime: Runtime, name: string): Promise<boolean> =>
  (await runtime.list()).some((each) => each.name === name)
