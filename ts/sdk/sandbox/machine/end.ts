/** Sandboxes that end without being deleted: those whose owner or whose time is over. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import type { CallOptions } from '../../basics.ts'
import { BacklotError } from '../../errors.ts'
import { runtimeOf } from '../../runtimes/known.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import { hasEnded } from '../../state/owner.ts'
import type { Records } from '../../state/records.ts'

/** Milliseconds that another's work is waited for at most, and between two looks. */
const patienceMs = 5_000
const pollIntervalMs = 20

/** Milliseconds that a runtime may take to end what nobody asked it for. */
const endMs = 30_000

/** Why a sandbox should have ended, in a sentence; undefined where it should not. */
export const reasonToEnd = async (record: SandboxRecord): Promise<string | undefined> => {
  if (record.expires_at !== null && Date.parse(record.expires_at) <= Date.now()) {
    return `Its time ended at ${record.expires_at}.`
  }
  if (record.owner === null || !(await hasEnded(record.owner))) return undefined
  if (record.ephemeral) return 'It belonged to a program that has ended.'
  return record.status === 'provisioning' ? 'The program that started it ended before it was ready.' : undefined
}

/**
 * Ends a sandbox that should have ended, and removes its record; gives the record that stays, with a warning where it could not be
 * ended. One that somebody else is ending is waited for.
 */
export const endIfDue = async (records: Records, record: SandboxRecord): Promise<SandboxRecord | undefined> => {
  if ((await reasonToEnd(record)) === undefined) return record
  const deadline = performance.now() + patienceMs
  let lock = await records.tryLock(record.name)
  for (; lock === undefined && performance.now() < deadline; lock = await records.tryLock(record.name)) {
    const now = await records.read(record.name)
    if (now === undefined || (await reasonToEnd(now)) === undefined) return now
    await new Promise((wake) => setTimeout(wake, pollIntervalMs))
  }
  if (lock === undefined) return record
  try {
    return await endDueLocked(records, record.name)
  } finally {
    await lock.release()
  }
}

/** The same, where the lock of the name is held. */
export const endDueLocked = async (records: Records, name: string): Promise<SandboxRecord | undefined> => {
  // It was read before the lock was taken: somebody may have ended it, or made it stay.
  const record = await records.read(name)
  if (record === undefined) return undefined
  const reason = await reasonToEnd(record)
  if (reason === undefined) return record
  const runtime = runtimeOf(record)
  const stays = (why: string): SandboxRecord => ({
    ...record,
    warnings: [...record.warnings, `${reason} It was not ended: ${why}`],
  })
  if (runtime === undefined) return stays(`this program does not know the runtime "${record.runtime}".`)
  try {
    await stopFor(runtime, name, { timeoutMs: endMs })
  } catch (error) {
    return stays((error as Error).message)
  }
  await records.remove(name)
  return undefined
}

/** Ends all that should have ended; gives the records that stay, and the files that cannot be used. */
export const sweep = async (records: Records) => {
  const { records: found, unusable } = await records.list()
  const left = await Promise.all(found.map((record) => endIfDue(records, record)))
  return { records: left.filter((record) => record !== undefined), unusable }
}

/** Lets a runtime end a sandbox; one that it no longer has is fine. */
export const stopFor = async (runtime: Runtime, name: string, options: CallOptions): Promise<void> => {
  try {
    await runtime.stop(name, options)
  } catch (error) {
    if (!(BacklotError.is(error) && error.code === 'sandbox_not_found')) throw error
  }
}
