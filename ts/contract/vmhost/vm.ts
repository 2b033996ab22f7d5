/** A virtual machine as the VM host shows it. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { choice } from '../fields/choice.ts'

const orNull = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()], schema.description === undefined ? {} : { description: schema.description })

/** What a VM may be called. */
export const vmName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  maxLength: 100,
  description: 'Name of the VM: letters, digits, `.`, `_` and `-`; the first is a letter or a digit; 100 at most.',
})

/** The name of a VM that exists: `IMAGE:TAG` means the VM `IMAGE_TAG`. */
export const vmReference = Type.String({ ...vmName, colonIs: '_' })

/** What a VM does. */
export const vmStatuses = ['provisioning', 'pulling', 'starting', 'running', 'suspended', 'stopped', 'damaged'] as const

/** A folder of the host that a VM sees. */
export const SharedDirectory = Type.Object({
  hostPath: Type.String({ description: 'Absolute path of the folder on the host.' }),
  tag: Type.String({ description: 'The name under which the guest mounts it.' }),
  readOnly: Type.Boolean({ description: 'Whether the guest may only read.' }),
})
export type SharedDirectory = Static<typeof SharedDirectory>

/** A port of a guest that can be reached on this machine. */
export const Forward = Type.Object({
  guestPort: Type.Integer(),
  address: Type.String({ description: 'Address of this machine.' }),
  port: Type.Integer({ description: 'Port there.' }),
})
export type Forward = Static<typeof Forward>

/** How the hypervisor of a VM ended last. */
export const Ending = Type.Object({
  cause: Type.String({ description: 'What ended it, for people.' }),
  expected: Type.Boolean({ description: 'Whether the guest or somebody asked for it.' }),
  at: Type.String({ description: 'When, in ISO 8601.' }),
})
export type Ending = Static<typeof Ending>

/** How a VM's network is made. */
export const networkModes = ['nat', 'none'] as const

/** A virtual machine: every field is present; what is unknown is null. */
export const Vm = Type.Object({
  name: vmName,
  os: choice(['macOS', 'linux'], { description: 'Operating system as clients know it; `guestOs` has the true one.' }),
  guestOs: Type.String({ description: 'Operating system of the guest: `linux`, `windows`, `macOS`.' }),
  cpuCount: Type.Integer(),
  memorySize: Type.Integer({ description: 'Bytes.' }),
  diskSize: Type.Object({
    allocated: Type.Integer({ description: 'Bytes that its own disk file takes on the host.' }),
    total: Type.Integer({ description: 'Bytes that the guest sees.' }),
  }),
  display: Type.String({ description: '`WIDTHxHEIGHT`.' }),
  status: choice(vmStatuses, {
    description: '`damaged`: its files cannot be read, `lastError` says why, and other fields may say nothing.',
  }),
  vncUrl: orNull(Type.String({ description: '`vnc://:PASSWORD@HOST:PORT` while it runs with a display.' })),
  ipAddress: orNull(Type.String({ description: 'Where the guest is reached from this machine, while it runs.' })),
  sshAvailable: orNull(Type.Boolean({ description: 'Whether an SSH server answers in the guest.' })),
  locationName: Type.String({ description: 'Name of its location, or the path of a folder that is none.' }),
  sharedDirectories: orNull(Type.Array(SharedDirectory)),
  networkMode: choice(networkModes),
  provisioningOperation: orNull(Type.String({ description: 'What is being done while it is no whole VM yet.' })),
  downloadProgress: orNull(Type.Number({ description: '0 to 100.' })),
  downloadedBytes: orNull(Type.Integer()),
  totalBytes: orNull(Type.Integer()),
  bytesPerSecond: orNull(Type.Integer()),
  macAddress: Type.String(),
  uuid: Type.String(),
  image: orNull(Type.String({ description: 'The image that it was made from.' })),
  iso: orNull(Type.String({ description: 'The disc image that it boots from while its disk is empty.' })),
  forwards: Type.Array(Forward, { description: 'Ports of the guest that are reached on this machine.' }),
  accelerator: orNull(Type.String({ description: 'What runs its instructions while it runs: `kvm`, `tcg`.' })),
  pid: orNull(Type.Integer({ description: 'Process of its hypervisor.' })),
  operationId: orNull(Type.String({ description: 'The operation under way or the last one.' })),
  lastError: orNull(Type.String({ description: 'Why the last operation failed, or what is damaged.' })),
  lastEnding: orNull(Ending),
  identity: choice(['own', 'shared'], {
    description:
      '`shared`: a fork whose guest has no agent that could give it a machine id, host keys and a MAC address of its own.',
  }),
  createdAt: Type.String({ description: 'In ISO 8601.' }),
})
export type Vm = Static<typeof Vm>
export type VmStatus = Vm['status']
