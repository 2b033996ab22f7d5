/** What this machine keeps of sandboxes in a cloud: of those alone that shall end by themselves, or are being made. */
import type { CloudVm } from '@backlot/contract/cloud'
import { type SandboxRecord, sandboxFormat } from '@backlot/contract/sandbox'
import { toHex } from '../../base64.ts'
import type { CallOptions } from '../../basics.ts'
import type { CloudAccess } from '../../cloud/access.ts'
import { type CloudClient, cloudClient } from '../../cloud/client.ts'
import { deleteVm } from '../../cloud/vms.ts'
import { BacklotError } from '../../errors.ts'
import { folders } from '../../state/folders.ts'
import { thisProgram } from '../../state/owner.ts'
import { Records } from '../../state/records.ts'
import { reasonToEnd } from '../machine/end.ts'

/** The records of a cloud; the same name in another cloud is another sandbox. */
export const cloudRecords = async ({ baseUrl }: CloudAccess): Promise<Records> => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(baseUrl)))
  const id = toHex(digest.slice(0, 8))
  return new Records(`${folders().state}/sandboxes/cloud/${id}`)
}

/** The record of a sandbox in a cloud. */
export const cloudRecord = async (
  name: string,
  { ephemeral, expiresAt, vm }: { ephemeral: boolean; expiresAt: string | null; vm?: CloudVm | undefined },
): Promise<SandboxRecord> => ({
  format: sandboxFormat,
  id: crypto.randomUUID(),
  name,
  runtime: 'cloud',
  status: 'running',
  created_at: new Date().toISOString(),
  expires_at: expiresAt,
  ephemeral,
  owner: ephemeral ? await thisProgram() : null,
  image: null,
  snapshot: null,
  connection: null,
  resources: {},
  os_type: null,
  isolation: 'vm',
  labels: {},
  warnings: [],
  ...(vm?.created_at && { vm_created_at: vm.created_at }),
})

/** Whether what is kept is of that VM, as far as its time of making tells. */
export const isOf = ({ vm_created_at: madeAt }: SandboxRecord, vm: CloudVm): boolean =>
  !madeAt || !vm.created_at || madeAt === vm.created_at

/** Whether a name still has the VM that was made at a time; where nobody tells the time, whether it has one. */
export const isSameVm = async (
  client: CloudClient,
  name: string,
  madeAt: string | undefined,
  options: CallOptions,
): Promise<boolean> => {
  try {
    const vm = await client.getVm({ name }, options)
    return !madeAt || !vm.created_at || madeAt === vm.created_at
  } catch (error) {
    if (BacklotError.is(error) && error.code === 'sandbox_not_found') return false
    throw error
  }
}

/** Deletes a VM whose owner or time is over, unless the name has another VM now; gives the record that stays. */
export const endCloudIfDue = async (
  records: Records,
  client: CloudClient,
  { name }: { readonly name: string },
): Promise<SandboxRecord | undefined> => {
  const seen = await records.read(name)
  if (seen === undefined || (await reasonToEnd(seen)) === undefined) return seen
  const lock = await records.tryLock(name)
  if (lock === undefined) return seen
  try {
    const record = await records.read(name)
    const reason = record && (await reasonToEnd(record))
    if (record === undefined || reason === undefined) return record
    if (await isSameVm(client, name, record.vm_created_at, {})) await deleteVm(client, name, true, {})
    await records.remove(name)
    return undefined
  } catch (error) {
    const reason = (await reasonToEnd(seen)) ?? ''
    return { ...seen, warnings: [`${reason} It was not ended: ${(error as Error).message}`] }
  } finally {
    await lock.release()
  }
}

/** Ends all that should have ended in a cloud; gives what stays, by name. */
export const sweepCloud = async (access: CloudAccess): Promise<Map<string, SandboxRecord>> => {
  const records = await cloudRecords(access)
  const client = cloudClient(access)
  const { records: found } = await records.list()
  const left = await Promise.all(found.map((record) => endCloudIfDue(records, client, record)))
  return new Map(left.filter((record) => record !== undefined).map((record) => [record.name, record]))
}
