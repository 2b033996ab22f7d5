/** The record of a VM: what its file says, what its process does and what is under way, in the fields that clients know. */
import { open, readFile, stat } from 'node:fs/promises'
import type { Failure } from '@backlot/contract/failure'
import type { Operation } from '@backlot/contract/vmhost/operation'
import type { Ending, Vm } from '@backlot/contract/vmhost/vm'
import type { Host } from '../host/host.ts'
import type { Creation } from './creations.ts'
import { vmPath } from './vm-directory.ts'
import type { VmSettings } from './vm-settings.ts'
import type { StoredVm, VmPlace } from './vm-store.ts'

/** The record of a VM that is whole. */
export const vmRecord = async (vm: StoredVm, host: Host): Promise<Vm> => {
  const [diskSize, lastEnding] = await Promise.all([diskSizeOf(vm.path), readEnding(vm.path)])
  // From here on nothing is waited for: what runs is of one moment.
  const machine = host.machines.get(vm.path)
  const operation = host.operations.latest(vm.path)
  return {
    ...usual(vm, vm.settings, operation),
    diskSize,
    status: host.machines.status(vm),
    vncUrl:
      machine?.vnc === undefined ? null : `vnc://:${machine.vnc.password}@${machine.vnc.host}:${machine.vnc.port}`,
    ipAddress: machine?.ipAddress ?? null,
    sshAvailable: machine === undefined ? null : machine.sshAvailable,
    sharedDirectories: machine?.sharedDirectories === undefined ? null : copy(machine.sharedDirectories),
    forwards: [...(machine?.forwards ?? [])],
    accelerator: machine?.accelerator ?? null,
    pid: machine?.pid ?? null,
    lastError: machine?.trouble ?? failureOf(operation),
    lastEnding,
  }
}

/** The record of one that cannot be read, or not wholly. */
export const damagedRecord = async (vm: VmPlace & { settings?: VmSettings }, damage: Failure): Promise<Vm> => ({
  ...usual(vm, vm.settings ?? (await unknownSettings(vm.path)), undefined),
  diskSize: await diskSizeOf(vm.path),
  status: 'damaged',
  lastError: damage.message,
})

/** What stands in the place of settings that nobody can read. */
const unknownSettings = async (folder: string): Promise<VmSettings> => ({
  os: 'linux',
  guestOs: 'unknown',
  cpu: 0,
  memoryBytes: 0,
  display: { width: 0, height: 0 },
  macAddress: '',
  uuid: '',
  generationId: '',
  instanceId: '',
  network: 'none',
  ports: [],
  createdAt: ((await stat(folder).catch(() => undefined))?.birthtime ?? new Date(0)).toISOString(),
})

/** The record of one that is being made. */
export const creationRecord = ({ place, settings, diskBytes, operationId }: Creation, host: Host): Vm => {
  const operation = host.operations.get(operationId)
  const { doneBytes, totalBytes, bytesPerSecond } = operation.progress ?? {}
  const isKnown = doneBytes !== undefined && totalBytes != null && totalBytes > 0
  return {
    ...usual(place, settings, operation),
    diskSize: { allocated: 0, total: diskBytes },
    status: operation.kind === 'pull' ? 'pulling' : 'provisioning',
    provisioningOperation: operation.step ?? operation.kind,
    downloadProgress: isKnown ? Math.min(100, Math.round((1000 * doneBytes) / totalBytes) / 10) : null,
    downloadedBytes: doneBytes ?? null,
    totalBytes: totalBytes ?? null,
    bytesPerSecond: bytesPerSecond ?? null,
    lastError: failureOf(operation),
  }
}

const usual = ({ name, storage }: VmPlace, settings: VmSettings, operation: Operation | undefined): Vm => ({
  name,
  os: settings.os,
  guestOs: settings.guestOs,
  cpuCount: settings.cpu,
  memorySize: settings.memoryBytes,
  diskSize: { allocated: 0, total: 0 },
  display: `${settings.display.width}x${settings.display.height}`,
  status: 'stopped',
  vncUrl: null,
  ipAddress: null,
  sshAvailable: null,
  locationName: storage.name,
  sharedDirectories: null,
  networkMode: settings.network,
  provisioningOperation: null,
  downloadProgress: null,
  downloadedBytes: null,
  totalBytes: null,
  bytesPerSecond: null,
  macAddress: settings.macAddress,
  uuid: settings.uuid,
  image: settings.image ?? null,
  iso: settings.iso ?? null,
  forwards: [],
  accelerator: null,
  pid: null,
  operationId: operation?.id ?? null,
  lastError: null,
  lastEnding: null,
  identity: settings.identity ?? 'own',
  createdAt: settings.createdAt,
})

const copy = (directories: readonly { hostPath: string; tag: string; readOnly: boolean }[] | null) =>
  directories === null ? null : [...directories]

const failureOf = (operation: Operation | undefined): string | null =>
  operation?.state === 'failed' ? (operation.cause?.message ?? null) : null

/** What the guest sees and what the host pays; the guest's size is the 64-bit number at byte 24 of a qcow2 header. */
const diskSizeOf = async (folder: string): Promise<Vm['diskSize']> => {
  const path = vmPath(folder, 'disk')
  try {
    await using file = await open(path, 'r')
    const header = Buffer.alloc(32)
    await file.read(header, 0, header.length, 0)
    const { blocks } = await file.stat()
    return { allocated: blocks * 512, total: Number(header.readBigUInt64BE(24)) }
  } catch {
    return { allocated: (await stat(path).catch(() => undefined))?.size ?? 0, total: 0 }
  }
}

const readEnding = async (folder: string): Promise<Ending | null> => {
  try {
    return JSON.parse(await readFile(vmPath(folder, 'ended'), 'utf8')) as Ending
  } catch {
    return null
  }
}
