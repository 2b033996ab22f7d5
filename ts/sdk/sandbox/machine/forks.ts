/** Copies of a running sandbox: all their names are reserved before its runtime hears of any. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import { ConflictError } from '../../errors.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import type { Records } from '../../state/records.ts'
import { type Plan, reserveSeveral } from '../names/reserve.ts'
import type { CopyOptions } from '../options.ts'
import { limitsOf } from '../refusals.ts'
import { createReserved, type StartedSandbox } from './create.ts'
import { startMs } from './start-limit.ts'

/** Brings `count` ephemeral copies into being, and tells what became of each; of those that failed nothing is left. */
export const createForks = async (
  records: Records,
  record: SandboxRecord,
  runtime: Runtime,
  { count, ...options }: CopyOptions & { count: number },
): Promise<PromiseSettledResult<StartedSandbox>[]> => {
  const plan: Plan = {
    runtime,
    source: { image: record.image, snapshot: record.snapshot },
    options: { ...limitsOf(options), labels: record.labels },
    ephemeral: true,
    warnings: record.warnings,
  }
  const reserved = await reserveSeveral(records, plan, count)
  const names = reserved.map(({ name }) => name)
  const begun = (async () =>
    runtime.fork(record.name, names, { ...options, timeoutMs: options.timeoutMs ?? startMs }))()
  begun.catch(() => undefined)
  return Promise.allSettled(
    reserved.map((each, index) =>
      createReserved(records, plan, each, async () => {
        const info = (await begun)[index]
        if (info !== undefined) return info
        throw new ConflictError('sandbox_not_running', `The runtime "${runtime.name}" made fewer forks than asked.`)
      }),
    ),
  )
}
