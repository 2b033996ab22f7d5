/** The connection to what a runtime started, and what is stored of it. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import type { CallOptions } from '../../basics.ts'
import { withDeadline } from '../../deadline.ts'
import { ConnectionError, TimeoutError } from '../../errors.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import type { RuntimeInfo } from '../../runtimes/runtime-info.ts'
import { infoOf, storedOf } from '../../state/connection.ts'
import type { Records } from '../../state/records.ts'
import type { Transport } from '../../transports/transport.ts'
import { startMs } from './start-limit.ts'

/** The error of a sandbox that could not be used in time. */
export const notReady = (name: string, timeoutMs: number, cause?: TimeoutError): TimeoutError => {
  const text = `The sandbox "${name}" was not ready within ${timeoutMs} ms. Allow more with "timeoutMs", or read \`Sandbox.logs\`.`
  const data = { ...cause?.data, name, timeoutMs }
  return new TimeoutError('not_ready', text, { data, ...(cause !== undefined && { cause }) })
}

/** Stores how a sandbox is reached. */
export const keepConnection = async (
  records: Records,
  record: SandboxRecord,
  info: RuntimeInfo,
): Promise<SandboxRecord> => {
  const { connection, keys } = storedOf(checkInfo(record.runtime, info))
  await records.writeKeys(record.name, keys)
  const kept = { ...record, connection }
  await records.write(kept)
  return kept
}

/** What a runtime says, with the port that a computer server has in a guest where it says none; throws `invalid_response`. */
const checkInfo = (runtime: string, info: RuntimeInfo): RuntimeInfo => {
  const isPort = Number.isInteger(info?.apiPort) && info.apiPort > 0 && info.apiPort < 65_536
  if (typeof info?.host === 'string' && info.host !== '' && isPort) return { guestServerPort: 8_000, ...info }
  const text = `The runtime "${runtime}" did not say how to reach what it started: it gives "host" and "apiPort".`
  throw new ConnectionError('invalid_response', text, { data: { runtime } })
}

/** Waits until a sandbox can be used, and connects to it; throws `not_ready`. */
export const connectWhenReady = async (
  runtime: Runtime,
  record: SandboxRecord,
  info: RuntimeInfo,
  { signal, timeoutMs = startMs }: CallOptions,
): Promise<Transport> => {
  const limits = signal === undefined ? { timeoutMs } : { timeoutMs, signal }
  const isReady = await runtime.isReady(info, limits).catch((error) => {
    // A runtime that does not heed its limit says no more than one that does.
    if (error instanceof TimeoutError) throw notReady(record.name, timeoutMs, error)
    throw error
  })
  signal?.throwIfAborted()
  if (!isReady) throw notReady(record.name, timeoutMs)
  return openTransport(runtime, info, limits)
}

/** Connects to a sandbox that can be used. */
export const openTransport = async (
  runtime: Runtime,
  info: RuntimeInfo,
  options: { timeoutMs?: number; signal?: AbortSignal },
): Promise<Transport> => {
  const transport = runtime.transport(info)
  try {
    const what = `The connection to a sandbox of the runtime "${runtime.name}"`
    await withDeadline(options, what, (signal) => transport.connect({ ...options, signal }))
  } catch (error) {
    await transport.disconnect().catch(() => undefined)
    throw error
  }
  return transport
}

/** How a sandbox is reached, as it was stored; undefined where it never was. */
export const storedInfo = async (records: Records, record: SandboxRecord): Promise<RuntimeInfo | undefined> =>
  record.connection === null ? undefined : infoOf(record.connection, await records.readKeys(record.name))
