/** Stopping sandboxes so that they can go on, and continuing them; the lock of the name is held. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import type { CallOptions } from '../../basics.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import type { Records } from '../../state/records.ts'
import type { Transport } from '../../transports/transport.ts'
import { limitsOf, notRunning, refuseUnable } from '../refusals.ts'
import { storedSource } from '../stored-source.ts'
import { connectWhenReady, keepConnection } from './connect.ts'
import { holdingsOf, statusNow } from './machine-info.ts'
import { startMs } from './start-limit.ts'

/** Suspends one that runs; throws `sandbox_not_running`. */
export const suspendLocked = async (
  records: Records,
  record: SandboxRecord,
  runtime: Runtime,
  options: CallOptions,
): Promise<SandboxRecord> => {
  refuseUnable(runtime, runtime.features.suspend)
  const status = statusNow(record, await holdingsOf(runtime, runtime.name, limitsOf(options)))
  if (status !== 'running') throw notRunning(record.name, status)
  await runtime.suspend(record.name, limitsOf(options))
  const suspended = { ...record, status: 'suspended' as const }
  await records.write(suspended)
  return suspended
}

/** Continues one that is suspended, and connects to it; undefined for one that runs. */
export const resumeLocked = async (
  records: Records,
  record: SandboxRecord,
  runtime: Runtime,
  options: CallOptions,
): Promise<{ record: SandboxRecord; transport: Transport } | undefined> => {
  const status = statusNow(record, await holdingsOf(runtime, runtime.name, limitsOf(options)))
  if (status === undefined) throw notRunning(record.name, status)
  if (status === 'running') return undefined
  const source = await storedSource(record)
  const { cpu, memory_mb: memoryMb, disk_gb: diskGb } = record.resources
  const limits = { ...limitsOf(options), timeoutMs: options.timeoutMs ?? startMs }
  const info = await runtime.resume(source, record.name, {
    ...limits,
    ...(cpu !== undefined && { cpu }),
    ...(memoryMb !== undefined && { memoryMb }),
    ...(diskGb !== undefined && { diskGb }),
    name: record.name,
    labels: record.labels,
  })
  const running = { ...(await keepConnection(records, record, info)), status: 'running' as const }
  await records.write(running)
  return { record: running, transport: await connectWhenReady(runtime, running, info, limits) }
}
