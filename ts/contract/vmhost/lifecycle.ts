/** Operations of the VM host on virtual machines. */
import { Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { choice } from '../fields/choice.ts'
import { sizePattern } from '../fields/size.ts'
import { largestDisplay, stopGrace } from '../limits.ts'
import { Done, storage } from './location.ts'
import { networkModes, Vm, vmName, vmReference } from './vm.ts'

const operationId = Type.String({ description: 'What `GET /operations/{id}` tells about.' })
const storageOf = (what: string) =>
  Type.String({ ...storage, description: `${what}: ${storage.description?.replace(/^A/, 'a')}` })
const named = Type.Object({ name: vmReference })

/** The name of a VM, or of an image that is pulled where no VM has its name. */
const vmOrImage = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*(:[A-Za-z0-9_][A-Za-z0-9._-]*)?$',
  maxLength: 100,
  description:
    'Name of the VM. `IMAGE:TAG` means the VM `IMAGE_TAG`, which is made of that image first where there is none.',
})
const inStorage = Type.Object({ storage: Type.Optional(storage) })

const size = (what: string) =>
  Type.String({ pattern: sizePattern, maxLength: 40, description: `${what}, like \`8GB\`; without a unit in GB.` })

/** What holds where nobody says where a VM is. */
const lookedFor = { storage: 'looked for in the default location, then in the others' } as const

const cpu = Type.Integer({ minimum: 1, maximum: 255, description: 'Number of processor cores.' })
const memory = size('Memory')
const diskSize = size('Size of the disk')
const display = Type.String({
  pattern: '^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$',
  description: `Resolution in pixels, \`WIDTHxHEIGHT\`, at most \`${largestDisplay.width}x${largestDisplay.height}\`.`,
})

/** What existing clients call some fields. */
const spellings = {
  new_name: 'newName',
  disk_size: 'diskSize',
  read_only: 'readOnly',
  host_path: 'hostPath',
  no_display: 'noDisplay',
  shared_directories: 'sharedDirectories',
  recovery_mode: 'recoveryMode',
  discard_memory: 'discardMemory',
  source_location: 'sourceLocation',
  dest_location: 'destLocation',
  user_data: 'userData',
  grace_seconds: 'graceSeconds',
} as const

/** The operations, in the order of the specification. */
export const lifecycleOperations = {
  listVms: endpoint({
    method: 'GET',
    path: '/vms',
    summary: 'List the VMs.',
    description: 'Those of every location, or of the storage that is named; VMs that are being made are among them.',
    query: inStorage,
    success: { status: 200, description: 'The VMs, sorted by name in each location.', result: Type.Array(Vm) },
    refusal: 'Bad request',
    command: { group: 'vm', words: ['ls'], positional: [], absent: { storage: 'every location' } },
  }),
  getVm: endpoint({
    method: 'GET',
    path: '/vms/{name}',
    summary: 'Show a VM.',
    description: 'It is searched in the default location first, then in the others.',
    params: named,
    query: inStorage,
    success: { status: 200, description: 'The VM.', result: Vm },
    refusal: 'VM not found or invalid request',
    command: { group: 'vm', words: ['get'], positional: ['name'], absent: lookedFor },
  }),
  createVm: endpoint({
    method: 'POST',
    path: '/vms',
    summary: 'Make a VM.',
    description:
      'With an empty disk, or from an image: a disk file, an address of one, or a local image. It is answered when the ' +
      'VM is whole; where that takes long, as with an address, at once, with `status` `provisioning`.',
    spellings,
    body: Type.Object({
      name: vmName,
      os: choice(['macOS', 'linux'], { description: 'Operating system to install.' }),
      cpu,
      memory,
      diskSize,
      display,
      ipsw: Type.Optional(Type.String({ description: 'Path of an IPSW file, or `latest`; for macOS.' })),
      storage: Type.Optional(storage),
      image: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            'What its disk begins with: `NAME:TAG` of a local image, the path of a disk file, or an address.',
        }),
      ),
      iso: Type.Optional(
        Type.String({ minLength: 1, description: 'Path of a disc image to install from; the disk begins empty.' }),
      ),
      userData: Type.Optional(Type.String({ description: 'User data for cloud-init in the guest.' })),
      executable: Type.Optional(
        Type.Boolean({
          description: 'The guest sees the executable of the service, to read, on a disk labelled BACKLOT.',
        }),
      ),
      template: Type.Optional(
        Type.Boolean({
          default: false,
          description:
            'Make it as a fork of a VM like it whose first boot was saved: it is `suspended` then, and `run` lets it go on. ' +
            'The first of its kind boots once for that. Kinds differ in image, sizes, network, user data and executable. ' +
            'It is never one that a pool has ready: `vm fork` of the suspended VM takes those.',
        }),
      ),
      network: Type.Optional(
        choice(networkModes, {
          description: '`nat`: the guest reaches out, its ports appear on this machine; `none`.',
        }),
      ),
    }),
    success: {
      status: 200,
      description: 'The VM exists, or is being made.',
      result: Type.Object({
        message: Type.String(),
        name: vmName,
        status: choice(['stopped', 'suspended', 'provisioning']),
        operationId,
      }),
    },
    refusal: 'Invalid request body or creation failed',
    command: {
      group: 'vm',
      words: ['create'],
      positional: ['name'],
      defaults: {
        os: 'linux',
        cpu: 2,
        memory: '2GB',
        diskSize: '8GB',
        display: '1024x768',
        image: 'linux-minimal:latest',
      },
      absent: {
        ipsw: 'none',
        storage: 'the default location',
        iso: 'none',
        userData: 'none',
        executable: 'only where the image runs it',
        network: '`nat`',
      },
    },
  }),
  deleteVm: endpoint({
    method: 'DELETE',
    path: '/vms/{name}',
    summary: 'Delete a VM.',
    description: 'Its files go; files in its folder that are not of Backlot stay. A VM that runs is refused.',
    params: named,
    query: inStorage,
    success: { status: 200, description: 'The VM and its files are gone.', result: Done },
    refusal: 'VM not found or deletion failed',
    command: { group: 'vm', words: ['rm'], positional: ['name'], absent: lookedFor },
  }),
  cloneVm: endpoint({
    method: 'POST',
    path: '/vms/clone',
    summary: 'Make a copy of a stopped VM.',
    description:
      'In the same location nothing is copied: both write to overlays of what was there. Into another location, or where ' +
      'the disk lies on 64 others already, it ' +
      'is copied whole. The copy has its own MAC address, UUID, generation id and cloud-init instance.',
    spellings,
    body: Type.Object({
      name: vmReference,
      newName: vmName,
      sourceLocation: Type.Optional(storageOf('Where the VM is')),
      destLocation: Type.Optional(storageOf('Where the copy is to be')),
    }),
    success: {
      status: 200,
      description: 'The copy exists.',
      result: Type.Object({ message: Type.String(), source: Type.String(), destination: Type.String(), operationId }),
    },
    refusal: 'Clone failed',
    command: {
      group: 'vm',
      words: ['clone'],
      positional: ['name', 'newName'],
      absent: { sourceLocation: lookedFor.storage, destLocation: 'the location of the VM' },
    },
  }),
  updateVm: endpoint({
    method: 'PATCH',
    path: '/vms/{name}',
    alias: { method: 'POST', path: '/vms/{name}/update' },
    summary: 'Change a VM.',
    description:
      'A disk only grows. `storage` moves the VM, its disk copied whole; a VM that is there already stays. Where ' +
      '`sourceLocation` is absent the VM is looked for in `storage`, then in every location. While it runs its disk can ' +
      'grow and its memory shrink down from what it was started with; the rest is for a stopped VM.',
    spellings,
    params: named,
    body: Type.Object({
      cpu: Type.Optional(cpu),
      memory: Type.Optional(memory),
      diskSize: Type.Optional(diskSize),
      display: Type.Optional(display),
      storage: Type.Optional(storageOf('Where the VM is to be')),
      sourceLocation: Type.Optional(storageOf('Where it is now')),
    }),
    success: { status: 200, description: 'The VM is changed.', result: Done },
    refusal: 'Invalid settings or update failed',
    command: {
      group: 'vm',
      words: ['set'],
      positional: ['name'],
      absent: {
        cpu: 'as it is',
        memory: 'as it is',
        diskSize: 'as it is',
        display: 'as it is',
        storage: 'where it is',
        sourceLocation: 'looked for in `storage`, then in every location',
      },
    },
  }),
  runVm: endpoint({
    method: 'POST',
    path: '/vms/{name}/run',
    summary: 'Start a VM.',
    description:
      'The start is under way when it is answered; the operation and the VM tell how it goes on. A name like `IMAGE:TAG` ' +
      'that is no VM is pulled first. A suspended VM goes on where it was, with the shared folders that it had then.',
    spellings,
    leniently: true,
    params: Type.Object({ name: vmOrImage }),
    body: Type.Object({
      noDisplay: Type.Optional(Type.Boolean({ default: false, description: 'Without its VNC display.' })),
      sharedDirectories: Type.Optional(
        Type.Array(
          Type.Object({
            hostPath: Type.String({ minLength: 1, description: 'Absolute path of the folder on the host.' }),
            tag: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,30}$' })),
            readOnly: Type.Optional(Type.Boolean({ default: false })),
          }),
          { maxItems: 16, description: 'Folders of the host that the guest sees.' },
        ),
      ),
      recoveryMode: Type.Optional(
        Type.Boolean({ default: false, description: 'Boot a guest with macOS in recovery mode.' }),
      ),
      discardMemory: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Start a suspended VM anew from its disk; what its memory held is lost.',
        }),
      ),
      storage: Type.Optional(storage),
    }),
    success: {
      status: 202,
      description: 'The VM is being started.',
      result: Type.Object({
        message: Type.String(),
        name: vmName,
        status: choice(['pending']),
        operationId,
      }),
    },
    refusal: 'Invalid request or VM not found',
    command: {
      group: 'vm',
      words: ['run'],
      positional: ['name'],
      absent: { ...lookedFor, sharedDirectories: 'none' },
    },
  }),
  stopVm: endpoint({
    method: 'POST',
    path: '/vms/{name}/stop',
    summary: 'Stop a VM.',
    description:
      'A start or a change of it that is under way is cancelled. The guest is asked through its agent or by the power ' +
      'button; one that does not shut down within `graceSeconds` is ended, one that runs no system that could hear it, ' +
      'or of which files are damaged, at once. `method` says which. It is answered when the VM has stopped, at most 9 ' +
      `seconds after those; in less than 20 seconds where the usual ${stopGrace.usualSeconds} are left as they are.`,
    spellings,
    leniently: true,
    params: named,
    body: Type.Object({
      storage: Type.Optional(storage),
      graceSeconds: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: stopGrace.mostSeconds,
          description: `Seconds that the guest has to shut down; where absent, what the service was started with, usually ${stopGrace.usualSeconds}.`,
        }),
      ),
    }),
    success: {
      status: 200,
      description: 'The VM has stopped.',
      result: Type.Object({
        message: Type.String(),
        method: choice(['agent', 'acpi', 'forced'], { description: 'How it was brought to stop.' }),
      }),
    },
    refusal: 'Stop failed',
    command: {
      group: 'vm',
      words: ['stop'],
      positional: ['name'],
      absent: {
        ...lookedFor,
        graceSeconds: `what the service was started with, usually ${stopGrace.usualSeconds}`,
      },
    },
  }),
  setupVm: endpoint({
    method: 'POST',
    path: '/vms/{name}/setup',
    ours: true,
    refusals: ['vm_not_found', 'vm_busy'],
    summary: 'Go through the setup assistant of macOS.',
    description: 'Guests of another system have none, and refuse with that reason.',
    leniently: true,
    params: named,
    body: inStorage,
    success: { status: 200, description: 'The assistant is done.', result: Done },
    refusal: 'The guest is not macOS, or was not found',
    command: { group: 'vm', words: ['setup'], positional: ['name'], absent: lookedFor },
  }),
} as const
