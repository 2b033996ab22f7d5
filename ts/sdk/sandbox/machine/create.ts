/** Creating sandboxes on this machine: names reserved, started, ready, connected; where one fails, nothing of them is left. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import { ConnectionError } from '../../errors.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import type { RuntimeInfo } from '../../runtimes/runtime-info.ts'
import type { Records } from '../../state/records.ts'
import type { Transport } from '../../transports/transport.ts'
import { type Plan, type ReservedName, reserve } from '../names/reserve.ts'
import type { Progress } from '../options.ts'
import { connectWhenReady, keepConnection, notReady } from './connect.ts'
import { stopFor } from './end.ts'
import { startLimit } from './start-limit.ts'

/** Lets the runtime start what is reserved under a name. */
type Begin = (name: string, onProgress: (progress: Progress) => void) => Promise<RuntimeInfo>

/** Milliseconds that clearing away what did not start may take. */
const clearMs = 30_000

/** What came of it. */
export interface StartedSandbox {
  readonly record: SandboxRecord
  readonly transport: Transport
}

/** Brings it into being; throws `sandbox_exists`. */
export const reserveAndCreate = async (records: Records, plan: Plan, begin: Begin): Promise<StartedSandbox> =>
  createReserved(records, plan, await reserve(records, plan), begin)

/** Brings into being what is reserved; its lock is released afterwards. */
export const createReserved = async (
  records: Records,
  plan: Plan,
  { name, release }: ReservedName,
  begin: Begin,
): Promise<StartedSandbox> => {
  // Set where the runtime still starts something when nobody waits for it any more.
  let late: Promise<unknown> | undefined
  try {
    return await start(records, plan, name, begin, (work) => {
      late = work
    })
  } finally {
    if (late === undefined) await release()
    // The name stays taken until then: under it something may yet start, which is to be ended and nothing else.
    else void late.then(release).catch(() => undefined)
  }
}

const start = async (
  records: Records,
  plan: Plan,
  name: string,
  begin: Begin,
  leave: (late: Promise<unknown>) => void,
): Promise<StartedSandbox> => {
  const { runtime, options, ephemeral } = plan
  let isBeginning = true
  const limit = startLimit(options, (timeoutMs) => notReady(name, timeoutMs))
  const begun = (async () => begin(name, limit.onProgress))().finally(() => {
    isBeginning = false
  })
  try {
    const info = await limit.within(begun)
    options.signal?.throwIfAborted()
    const reserved = await records.read(name)
    if (reserved === undefined) throw lostRecord(name)
    const record = await keepConnection(records, reserved, info)
    const transport = await connectWhenReady(runtime, record, info, options)
    const running: SandboxRecord = { ...record, status: 'running', owner: ephemeral ? record.owner : null }
    await records.write(running)
    return { record: running, transport }
  } catch (error) {
    const clearAway = () => clear(records, runtime, name, error)
    if (isBeginning) leave(begun.then(clearAway, clearAway))
    else await clearAway()
    throw error
  }
}

const lostRecord = (name: string): ConnectionError =>
  new ConnectionError('connection_lost', `The state file of "${name}" was removed while it started. Create it again.`)

/** Ends what did not start; where that fails too, the record stays, and whoever comes next tries again. */
const clear = async (records: Records, runtime: Runtime, name: string, cause: unknown): Promise<void> => {
  try {
    await stopFor(runtime, name, { timeoutMs: clearMs })
    await records.remove(name)
  } catch (error) {
    const record = await records.read(name).catch(() => undefined)
    if (record === undefined) return
    const why = `It did not start (${(cause as Error)?.message}), and could not be ended (${(error as Error)?.message}).`
    await records.write({ ...record, warnings: [...record.warnings, why] }).catch(() => undefined)
  }
}
