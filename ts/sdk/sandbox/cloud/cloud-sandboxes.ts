/** The sandboxes of a cloud: its VMs. */
import type { CloudVm } from '@backlot/contract/cloud'
import type { SandboxRecord } from '@backlot/contract/sandbox'
import type { CallOptions } from '../../basics.ts'
import type { CloudAccess } from '../../cloud/access.ts'
import { type CloudClient, cloudClient } from '../../cloud/client.ts'
import { infoOfVm, statusOf } from '../../cloud/vm.ts'
import { deleteVm, stopVm } from '../../cloud/vms.ts'
import { invalidArgument, NotFoundError, UnsupportedError } from '../../errors.ts'
import { isNode } from '../../node.ts'
import type { Resources } from '../../runtimes/features.ts'
import type { Records } from '../../state/records.ts'
import { CloudTransport } from '../../transports/cloud.ts'
import type { DisplayUrlOptions } from '../../transports/transport.ts'
import { checkTtl, sizes } from '../checks.ts'
import { scheduleEnd } from '../machine/expiry.ts'
import { newestFirst } from '../machine/machine-info.ts'
import { startMs } from '../machine/start-limit.ts'
import { withLock } from '../names/lock.ts'
import type { CopyOptions, SandboxInfo, SandboxOptions, SavedSandbox, Source } from '../options.ts'
import type { ConnectedSandbox, Provider, SandboxReference } from '../provider.ts'
import { limitsOf } from '../refusals.ts'
import { createInCloud, noTtl } from './cloud-create.ts'
import { cloudRecord, cloudRecords, endCloudIfDue, isOf, isSameVm, sweepCloud } from './cloud-records.ts'

/** A cloud. */
export class CloudSandboxes implements Provider {
  readonly client: CloudClient

  constructor(
    readonly access: CloudAccess,
    readonly region: string,
  ) {
    this.client = cloudClient(access)
  }

  async create(source: Source, options: SandboxOptions, ephemeral: boolean): Promise<ConnectedSandbox> {
    const { name, isAndroid, record, settle, clear } = await createInCloud(this, source, options, ephemeral)
    let transport: CloudTransport | undefined
    try {
      transport = this.#transport(name)
      await transport.connect({ ...limitsOf(options), timeoutMs: options.timeoutMs ?? startMs })
      await settle()
    } catch (error) {
      await transport?.disconnect().catch(() => undefined)
      await clear()
      throw error
    }
    return this.#held(name, isAndroid, ephemeral, transport, record)
  }

  async connect(name: string, options: CallOptions & Resources): Promise<ConnectedSandbox> {
    const size = sizes.find((each) => options[each] !== undefined)
    if (size !== undefined) {
      const text = `The cloud does not tell the "${size}" of "${name}", and connecting changes no size. Leave it out.`
      throw invalidArgument(size, text)
    }
    const vm = await this.client.getVm({ name }, limitsOf(options))
    const transport = this.#transport(name)
    await transport.connect(limitsOf(options))
    return this.#held(name, vm.os?.toLowerCase() === 'android', false, transport, await this.#recordOf(name, vm))
  }

  async list(options: CallOptions): Promise<SandboxInfo[]> {
    const kept = isNode() ? await sweepCloud(this.access) : new Map<string, SandboxRecord>()
    const answer = await this.client.listVms({}, limitsOf(options))
    const vms = Array.isArray(answer) ? answer : answer.vms
    return vms.map((vm) => this.#infoOf(vm, kept.get(vm.name))).sort(newestFirst)
  }

  async getInfo({ name }: SandboxReference, options: CallOptions): Promise<SandboxInfo> {
    const record = isNode() ? await endCloudIfDue(await this.#records(), this.client, { name }) : undefined
    return this.#infoOf(await this.client.getVm({ name }, limitsOf(options)), record)
  }

  suspend({ name }: SandboxReference, options: CallOptions): Promise<void> {
    return stopVm(this.client, name, limitsOf(options))
  }

  async resume({ name }: SandboxReference, options: CallOptions): Promise<ConnectedSandbox> {
    const vm = await this.client.getVm({ name }, limitsOf(options))
    if (statusOf(vm) === 'suspended' || statusOf(vm) === 'stopped') {
      const transport = this.#transport(name)
      await transport.resumeVm(limitsOf(options))
      return this.#held(name, vm.os?.toLowerCase() === 'android', false, transport, await this.#recordOf(name, vm))
    }
    return this.connect(name, limitsOf(options))
  }

  async restart(named: SandboxReference, options: CallOptions): Promise<ConnectedSandbox> {
    await this.suspend(named, options)
    return this.resume(named, options)
  }

  async delete({ name }: SandboxReference, options: CallOptions): Promise<void> {
    await deleteVm(this.client, name, false, limitsOf(options))
    await this.#forget(name)
  }

  // biome-ignore lint/correctness/useYield: it refuses when it is read, like other logs.
  async *logs(): AsyncIterable<string> {
    throw new UnsupportedError('The cloud gives no logs of its sandboxes; read those inside with `files` or `shell`.')
  }

  async fork(): Promise<never> {
    throw new UnsupportedError('The cloud copies no running sandbox; create more from the same image.')
  }

  /** What the cloud does not tell of it is what was asked; its size is 0 where it is not told. */
  async snapshot({ name }: SandboxReference, options: CopyOptions & { name?: string }): Promise<SavedSandbox> {
    const memory = options.memory !== false
    const answer = await this.client.snapshotVm(
      { vm: name, stateful: memory, ...(options.name !== undefined && { name: options.name }) },
      limitsOf(options),
    )
    const { id, size_bytes: sizeBytes, created_at: createdAt } = (answer ?? {}) as Record<string, unknown>
    return {
      id: typeof id === 'string' ? id : (options.name ?? name),
      name: options.name ?? null,
      sizeBytes: typeof sizeBytes === 'number' ? sizeBytes : 0,
      sandbox: name,
      source: 'cloud',
      memory,
      createdAt: typeof createdAt === 'string' ? createdAt : new Date().toISOString(),
      delete: async () => {
        throw new UnsupportedError(
          'The cloud deletes no snapshots by its API; delete it where you manage your account.',
        )
      },
    }
  }

  async restore(): Promise<never> {
    throw new UnsupportedError('The cloud puts no sandbox back by its API; restore it where you manage your account.')
  }

  async keep(named: SandboxReference, options: CallOptions): Promise<void> {
    // Where there are no files it ends with its scope alone, which knows.
    if (!isNode()) return
    await this.#change(named, options, (record) => ({ ...record, ephemeral: false, owner: null }))
  }

  async setTtl(named: SandboxReference, ttlMs: number | null, options: CallOptions): Promise<void> {
    checkTtl(ttlMs)
    if (!isNode()) throw new UnsupportedError(noTtl)
    const expiresAt = ttlMs === null ? null : new Date(Date.now() + ttlMs).toISOString()
    await this.#change(named, options, (record) => ({ ...record, expires_at: expiresAt }))
  }

  async release({ name, id }: SandboxReference, options: CallOptions): Promise<void> {
    const record = await this.#recordOf(name)
    // Where there are no files, whoever holds it is the only one who knows.
    if (isNode() && (record === undefined || record.id !== id || !record.ephemeral)) return
    if (await isSameVm(this.client, name, record?.vm_created_at, limitsOf(options))) {
      await deleteVm(this.client, name, true, limitsOf(options))
    }
    await this.#forget(name)
  }

  getDisplayUrl({ transport }: ConnectedSandbox, options: DisplayUrlOptions): Promise<string> {
    return transport.getDisplayUrl(options)
  }

  #transport(name: string): CloudTransport {
    return new CloudTransport({ name, apiKey: this.access.apiKey, baseUrl: this.access.baseUrl })
  }

  #held(
    name: string,
    isAndroid: boolean,
    ephemeral: boolean,
    transport: CloudTransport,
    record?: SandboxRecord,
  ): ConnectedSandbox {
    if (record !== undefined) this.#endInTime(record)
    return { name, id: record?.id ?? null, source: 'cloud', ephemeral, isAndroid, transport, provider: this }
  }

  #infoOf(vm: CloudVm, record: SandboxRecord | undefined): SandboxInfo {
    const info = infoOfVm(vm, this.access.baseUrl)
    if (record === undefined || !isOf(record, vm)) return info
    const { expires_at: expiresAt, ephemeral, warnings } = record
    return { ...info, expiresAt, ephemeral, warnings: [...info.warnings, ...warnings] }
  }

  #records(): Promise<Records> {
    return cloudRecords(this.access)
  }

  /** What is kept of a name; with `vm` only what is of that one. */
  async #recordOf(name: string, vm?: CloudVm): Promise<SandboxRecord | undefined> {
    const record = isNode() ? await (await this.#records()).read(name) : undefined
    return record !== undefined && vm !== undefined && !isOf(record, vm) ? undefined : record
  }

  async #forget(name: string): Promise<void> {
    if ((await this.#recordOf(name)) === undefined) return
    const records = await this.#records()
    await withLock(records, name, {}, () => records.remove(name))
  }

  /** Changes when it ends; a record that says nothing any more goes. Throws `sandbox_not_found` where another has its name now. */
  async #change(
    { name, id }: SandboxReference,
    options: CallOptions,
    change: (record: SandboxRecord) => SandboxRecord,
  ): Promise<void> {
    const records = await this.#records()
    await withLock(records, name, options, async () => {
      const vm = await this.client.getVm({ name }, limitsOf(options))
      const kept = await records.read(name)
      const before = kept !== undefined && isOf(kept, vm) ? kept : undefined
      // What is kept of a VM that is gone says nothing of the one that has its name now.
      const isAnother = kept !== undefined && (before === undefined ? kept.id === id : id !== null && before.id !== id)
      if (isAnother) throw renewed(name)
      const changed = change(before ?? (await cloudRecord(name, { ephemeral: false, expiresAt: null, vm })))
      this.#endInTime(changed)
      if (!changed.ephemeral && changed.expires_at === null) return records.remove(name)
      if (!(await records.reserve(changed))) await records.write(changed)
    })
  }

  #endInTime(record: SandboxRecord): void {
    scheduleEnd(record.id, record.expires_at, async () => endCloudIfDue(await this.#records(), this.client, record))
  }
}

const renewed = (name: string): NotFoundError => {
  const text = `The cloud has another VM under the name "${name}" now. Connect to it anew with \`Sandbox.connect\`.`
  return new NotFoundError('sandbox_not_found', text, { data: { name } })
}
