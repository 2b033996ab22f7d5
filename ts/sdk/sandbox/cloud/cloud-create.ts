/** Making VMs in a cloud, so that none is left behind: what is being made is kept here before the cloud is asked for it. */
import type { CloudVm } from '@backlot/contract/cloud'
import type { SandboxRecord } from '@backlot/contract/sandbox'
import type { CallOptions } from '../../basics.ts'
import type { CloudAccess } from '../../cloud/access.ts'
import type { CloudClient } from '../../cloud/client.ts'
import { deleteVm, requestVm } from '../../cloud/vms.ts'
import { BacklotError, ConflictError, UnsupportedError } from '../../errors.ts'
import { isNode } from '../../node.ts'
import { thisProgram } from '../../state/owner.ts'
import type { Records } from '../../state/records.ts'
import { isImage } from '../checks.ts'
import { startMs } from '../machine/start-limit.ts'
import { withLock } from '../names/lock.ts'
import { newName } from '../names/name.ts'
import type { SandboxOptions, Source } from '../options.ts'
import { limitsOf } from '../refusals.ts'
import { cloudRecord, cloudRecords, endCloudIfDue, isSameVm, sweepCloud } from './cloud-records.ts'

/** A VM that was asked for. */
export interface CreatedVm {
  readonly name: string
  readonly isAndroid: boolean
  /** What stays kept of it here; undefined where it neither is ephemeral nor ends at a time, or where there are no files. */
  readonly record: SandboxRecord | undefined
  /** It can be used: of its making nothing is kept any more. */
  settle(): Promise<void>
  /** It cannot be used: it is deleted, now or by whoever looks after this program has ended. */
  clear(): Promise<void>
}

/** Asks for a VM; throws `sandbox_exists`. */
export const createInCloud = async (
  { access, client, region }: { access: CloudAccess; client: CloudClient; region: string },
  source: Source,
  options: SandboxOptions,
  ephemeral: boolean,
): Promise<CreatedVm> => {
  const image = refuseUnable(source, options)
  const limits = { ...limitsOf(options), timeoutMs: options.timeoutMs ?? startMs }
  const name = options.name ?? newName()
  const expiresAt = options.ttlMs === undefined ? null : new Date(Date.now() + options.ttlMs).toISOString()
  if (isNode()) sweepCloud(access).catch(() => undefined)
  const records = isNode() ? await cloudRecords(access) : undefined
  const what = { ephemeral, expiresAt }
  const begun = records && (await intend(records, client, name, what, options.name !== undefined, limits))
  const forget = async (): Promise<void> => records && withLock(records, name, {}, () => records.remove(name))
  const clear = async () => {
    // Where it cannot be deleted, what is kept of its making stays.
    if (await isDeleted(client, name)) await forget().catch(() => undefined)
  }

  let vm: CloudVm
  try {
    vm = await requestVm(client, { ...options, name, image, region }, limits)
  } catch (error) {
    // Where the answer was lost, a VM is known to be ours under a name that was free before, or that nobody else can have.
    if (mayExist(error) && (records !== undefined || options.name === undefined)) await clear()
    else await forget().catch(() => undefined)
    throw error
  }
  const made = begun && { ...begun, ...(vm.created_at && { vm_created_at: vm.created_at }) }
  try {
    if (records && made) await withLock(records, name, {}, () => records.write(made))
  } catch (error) {
    await clear()
    throw error
  }
  return {
    name,
    isAndroid: image.osType === 'android',
    record: made && isToEnd(made) ? running(made) : undefined,
    settle: async () => records && settle(records, name),
    clear,
  }
}

/** Whether there is something to keep of a VM that can be used. */
const isToEnd = ({ ephemeral, expires_at: expiresAt }: SandboxRecord): boolean => ephemeral || expiresAt !== null

const settle = (records: Records, name: string): Promise<void> =>
  withLock(records, name, {}, async () => {
    // Somebody who connected meanwhile may have changed when it ends.
    const record = await records.read(name)
    if (record === undefined) return
    if (isToEnd(record)) await records.write(running(record))
    else await records.remove(name)
  })

const running = (record: SandboxRecord): SandboxRecord => ({
  ...record,
  status: 'running',
  owner: record.ephemeral ? record.owner : null,
})

/**
 * Keeps that a VM is being made: who finds that its program has ended deletes what has the name. So a name that a caller chose is
 * looked up before; throws `sandbox_exists`.
 */
const intend = async (
  records: Records,
  client: CloudClient,
  name: string,
  what: { ephemeral: boolean; expiresAt: string | null },
  isChosen: boolean,
  limits: CallOptions,
): Promise<SandboxRecord> => {
  await endCloudIfDue(records, client, { name })
  return withLock(records, name, limits, async () => {
    const before = await records.read(name)
    if (before?.status === 'provisioning' || (isChosen && (await isSameVm(client, name, undefined, limits))))
      throw exists(name)
    const record = { ...(await cloudRecord(name, what)), status: 'provisioning' as const, owner: await thisProgram() }
    // What is left of one that had the name before means another VM.
    await records.remove(name)
    await records.reserve(record)
    return record
  })
}

const isDeleted = (client: CloudClient, name: string): Promise<boolean> =>
  deleteVm(client, name, true, {}).then(
    () => true,
    () => false,
  )

/** Whether the cloud may have done what failed. */
const mayExist = (error: unknown): boolean =>
  !BacklotError.is(error) || ['connection_lost', 'invalid_response', 'timeout'].includes(error.code)

const exists = (name: string): ConflictError => {
  const text = `The cloud has a sandbox "${name}" already. Connect to it, delete it, or give another name.`
  return new ConflictError('sandbox_exists', text, { data: { name } })
}

export const noTtl = 'A time to live needs Node or Bun, whose files keep it; delete the sandbox instead.'

/** The image; throws `unsupported` for what the cloud cannot do. */
const refuseUnable = (source: Source, { mounts = [], network = 'internet', labels = {}, ttlMs }: SandboxOptions) => {
  const reason = !isImage(source)
    ? 'The cloud starts no sandbox from a snapshot; create it from an image.'
    : mounts.length > 0
      ? 'The cloud cannot see folders of this machine; use `files.upload`.'
      : network !== 'internet'
        ? 'The cloud gives its sandboxes the internet and no other network; leave "network" out.'
        : Object.keys(labels).length > 0
          ? 'The cloud keeps no labels; find its sandboxes by name.'
          : ttlMs !== undefined && !isNode()
            ? noTtl
            : undefined
  if (reason !== undefined || !isImage(source)) throw new UnsupportedError(reason ?? '')
  return source
}
