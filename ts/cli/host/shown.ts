/** What people see of the answers of operations; pipes get them as JSON. */
import { sizeOf } from '@backlot/contract/fields/size'
import type { HostConfig } from '@backlot/contract/vmhost/config'
import type { NetworkInterface } from '@backlot/contract/vmhost/guest'
import type { Image } from '@backlot/contract/vmhost/images'
import type { Operation } from '@backlot/contract/vmhost/operation'
import { inTree, type Snapshot } from '@backlot/contract/vmhost/snapshot'
import type { Template } from '@backlot/contract/vmhost/template'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { table } from '../terminal/table.ts'
import type { OperationName } from './declared.ts'

const vmRow = (vm: Vm) => ({
  name: vm.name,
  status: vm.status,
  cpu: vm.cpuCount,
  memory: sizeOf(vm.memorySize),
  disk: sizeOf(vm.diskSize.total),
  address: vm.ipAddress,
  location: vm.locationName,
  error: vm.lastError,
})

/** Fields below each other; what is null is left out. */
const lines = (record: Readonly<Record<string, unknown>>): string => {
  const known = Object.entries(record).filter(([, value]) => value !== null && value !== undefined)
  const width = Math.max(0, ...known.map(([field]) => field.length))
  const plain = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))
  return known.map(([field, value]) => `${field.padEnd(width)}  ${plain(value)}`).join('\n')
}

const vmLines = (vm: Vm): string =>
  lines({
    ...vm,
    memorySize: sizeOf(vm.memorySize),
    diskSize: `${sizeOf(vm.diskSize.total)}, of which ${sizeOf(vm.diskSize.allocated)} are written`,
    forwards: vm.forwards.map(forward).join(', ') || null,
    sharedDirectories:
      vm.sharedDirectories
        ?.map(({ hostPath, tag, readOnly }) => `${hostPath} as ${tag}${readOnly ? ', read only' : ''}`)
        .join('; ') ?? null,
    lastEnding: vm.lastEnding === null ? null : `${vm.lastEnding.cause} (${vm.lastEnding.at})`,
  })

const forward = ({ guestPort, address, port }: Vm['forwards'][number]): string => `${guestPort} at ${address}:${port}`

const rows = (records: readonly Readonly<Record<string, unknown>>[], none: string): string =>
  records.length === 0 ? none : table(records)

type Show = (answer: never) => string

const shows: Partial<Record<OperationName, Show>> = {
  listVms: (vms: Vm[]) => rows(vms.map(vmRow), 'There are no VMs. `backlot vm create NAME` makes one.'),
  getVm: vmLines,
  createVm: (vm: Vm) =>
    `${vm.name} is made: ${vm.cpuCount} cores, ${sizeOf(vm.memorySize)} of memory, a disk of ${sizeOf(vm.diskSize.total)}. \`backlot vm run ${vm.name}\` starts it.`,
  runVm: (vm: Vm) => `${vm.name} runs. Ports of the guest: ${vm.forwards.map(forward).join(', ') || 'none'}.`,
  listInterfaces: (interfaces: NetworkInterface[]) =>
    rows(
      interfaces.map(({ name, macAddress, addresses }) => ({
        name,
        macAddress,
        addresses: addresses.map(({ address, prefix }) => `${address}/${prefix}`).join(', ') || null,
      })),
      'The guest has no network interfaces.',
    ),
  pullImage: (vm: Vm) => `${vm.name} is made of ${vm.image}. \`backlot vm run ${vm.name}\` starts it.`,
  pushVm: (vm: Vm) => `The disk of ${vm.name} is pushed.`,
  listImages: (images: Image[]) =>
    rows(
      images.map(({ repository, tag, registry, source, os, bytes, users }) => ({
        image: `${repository}:${tag}`,
        from: registry ?? source ?? 'built here',
        os,
        size: `${Math.ceil(bytes / 1024 ** 2)} MB`,
        users: users.map(({ name }) => name).join(', ') || '-',
      })),
      'There are no images. `backlot image build` makes one.',
    ),
  suspendVm: (vm: Vm) => `${vm.name} is suspended with its memory. \`backlot vm resume ${vm.name}\` lets it go on.`,
  resumeVm: (vm: Vm) => `${vm.name} runs. Ports of the guest: ${vm.forwards.map(forward).join(', ') || 'none'}.`,
  takeSnapshot: (vm: Vm) => `${vm.name} has one more snapshot. \`backlot vm snapshot ls ${vm.name}\` lists them.`,
  restoreSnapshot: (vm: Vm) =>
    vm.status === 'suspended'
      ? `${vm.name} is what it was, with its memory. \`backlot vm resume ${vm.name}\` lets it go on.`
      : `${vm.name} has the disk that it had. \`backlot vm run ${vm.name}\` starts it.`,
  listSnapshots: (snapshots: Snapshot[]) =>
    rows(
      inTree(snapshots).map(({ depth, snapshot: { name, createdAt, hasMemory, memoryBytes } }) => ({
        name: `${'  '.repeat(depth)}${name}`,
        createdAt,
        hasMemory,
        memoryBytes,
      })),
      'There are no snapshots. `backlot vm snapshot create NAME` makes one.',
    ),
  listTemplates: (templates: Template[]) =>
    rows(templates, 'There are no templates. `backlot vm create NAME --template` makes one.'),
  forkVm: ({ names }: { names: string[] }) => `Forks that run: ${names.join(', ')}.`,
  cloneVm: (vm: Vm) => `${vm.name} is made. \`backlot vm run ${vm.name}\` starts it.`,
  updateVm: vmLines,
  getConfig: ({ vmLocations, ...config }: HostConfig) =>
    lines({ ...config, vmLocations: vmLocations.map(({ name, path }) => `${name}: ${path}`).join(', ') }),
  listLocations: (locations: { name: string; path: string }[]) => rows(locations, 'There are no locations.'),
  listOperations: (operations: Operation[]) =>
    rows(
      operations.map(({ id, kind, name, state, startedAt, cause }) => ({
        id,
        kind,
        name,
        state,
        started: startedAt,
        cause: cause?.message ?? null,
      })),
      'Nothing has been done since the service started.',
    ),
}

/** An answer as text for people. */
export const shown = (name: OperationName, answer: unknown): string => {
  const show = shows[name] as ((answer: unknown) => string) | undefined
  if (show !== undefined) return show(answer)
  const { message } = answer as { message?: unknown }
  return typeof message === 'string' ? message : lines(answer as Record<string, unknown>)
}
