/** The command line of QEMU for a VM: a pure function of what the VM is and how it is run. */
import type { Forward, SharedDirectory } from '@backlot/contract/vmhost/vm'
import type { VmSettings } from '../../vms/vm-settings.ts'

/** What instructions of a guest run on. */
export type Accelerator = 'kvm' | 'tcg'

/** Files that a hypervisor uses, by absolute path, and its sockets, by name in its working folder; what is absent is not attached. */
export interface Files {
  readonly disk: string
  readonly kernel?: string
  readonly initrd?: string
  /** Disk with the executable that the guest runs. */
  readonly executable?: string
  readonly iso?: string
  /** Folder that the guest sees as a disk labelled CIDATA. */
  readonly seed?: string
  readonly serial: string
  readonly pid: string
  readonly qmpSocket: string
  readonly agentSocket: string
}

/** How a VM is run. */
export interface Launch {
  readonly name: string
  readonly settings: VmSettings
  readonly files: Files
  readonly accelerator: Accelerator
  readonly hasDisplay: boolean
  readonly forwards: readonly Forward[]
  readonly sharedDirectories: readonly SharedDirectory[]
  /** The machine type that a saved memory is of; absent where the VM boots, on the newest that there is. */
  readonly machineType?: string | undefined
  /** The file that its memory is mapped from, into which nothing goes that the guest writes; absent where it has none. */
  readonly memory?: string | undefined
  /** What stands behind the VM's own words on its kernel's command line. */
  readonly moreWords?: string | undefined
}

/**
 * The arguments after the program's name. The machine waits for `cont`: its VNC password is set before anybody can
 * connect. Names in it are not secret, and no secret stands in it.
 */
export const qemuArguments = (launch: Launch): string[] => [
  ...machine(launch),
  ...control(launch),
  ...disks(launch),
  ...network(launch),
  ...sharedFolders(launch),
  ...screen(launch),
]

/** A comma in a value ends it unless it stands twice. */
const value = (text: string): string => text.replaceAll(',', ',,')

const options = (kind: string, values: Readonly<Record<string, string | number | boolean | undefined>>): string =>
  Object.entries(values)
    .filter(([, each]) => each !== undefined)
    .reduce(
      (text, [key, each]) =>
        `${text},${key}=${typeof each === 'boolean' ? (each ? 'on' : 'off') : value(String(each))}`,
      value(kind),
    )
    .replace(/^,/, '')

const blockdev = (node: Readonly<Record<string, unknown>>): string[] => ['-blockdev', JSON.stringify(node)]

/** What QEMU calls the memory of a PC: a saved one is known by it, however it is mapped. */
export const memoryName = 'pc.ram'

const cpus: Readonly<Record<Accelerator, string>> = { kvm: 'host', tcg: 'max' }

const mebibytes = ({ memoryBytes }: VmSettings): string => `${Math.ceil(memoryBytes / 2 ** 20)}M`

const machine = ({ name, settings, accelerator, files, moreWords, machineType, memory }: Launch): string[] => [
  '-name',
  options('', { guest: name }),
  '-uuid',
  settings.uuid,
  '-nodefaults',
  '-no-user-config',
  '-sandbox',
  'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny',
  '-machine',
  options(machineType ?? 'q35', {
    accel: accelerator,
    vmport: false,
    usb: false,
    'dump-guest-core': false,
    'memory-backend': memory && memoryName,
  }),
  ...(memory === undefined
    ? []
    : [
        '-object',
        options('memory-backend-file', {
          id: memoryName,
          size: mebibytes(settings),
          'mem-path': memory,
          share: false,
          'x-use-canonical-path-for-ramblock-id': false,
        }),
      ]),
  '-cpu',
  cpus[accelerator],
  '-smp',
  String(settings.cpu),
  '-m',
  mebibytes(settings),
  '-rtc',
  'base=utc',
  '-device',
  options('vmgenid', { guid: settings.generationId }),
  ...(files.kernel === undefined ? [] : ['-kernel', files.kernel]),
  ...(files.initrd === undefined ? [] : ['-initrd', files.initrd]),
  ...(files.kernel === undefined || settings.append === undefined
    ? []
    : ['-append', [settings.append, ...(moreWords === undefined ? [] : [moreWords])].join(' ')]),
]

const control = ({ files, machineType }: Launch): string[] => [
  '-S',
  // The memory is handed over when the control socket answers.
  ...(machineType === undefined ? [] : ['-incoming', 'defer']),
  '-pidfile',
  files.pid,
  '-msg',
  'timestamp=on',
  '-chardev',
  options('socket', { id: 'qmp', path: files.qmpSocket, server: true, wait: false }),
  '-mon',
  'chardev=qmp,mode=control',
  '-device',
  'virtio-serial-pci',
  '-chardev',
  options('socket', { id: 'agent', path: files.agentSocket, server: true, wait: false }),
  '-device',
  'virtserialport,chardev=agent,name=org.qemu.guest_agent.0',
  '-chardev',
  options('file', { id: 'serial', path: files.serial, append: true }),
  '-serial',
  'chardev:serial',
  '-device',
  'virtio-balloon-pci,id=balloon,deflate-on-oom=on',
  '-device',
  'virtio-rng-pci',
]

const disks = ({ files }: Launch): string[] => [
  ...blockdev({
    driver: 'qcow2',
    'node-name': 'disk',
    discard: 'unmap',
    file: { driver: 'file', filename: files.disk },
  }),
  '-device',
  'virtio-blk-pci,drive=disk,id=disk0,bootindex=1',
  ...(files.seed === undefined
    ? []
    : [
        ...blockdev({ driver: 'vvfat', 'node-name': 'seed', dir: files.seed, label: 'CIDATA', 'read-only': true }),
        '-device',
        'virtio-blk-pci,drive=seed,id=seed0',
      ]),
  ...(files.executable === undefined
    ? []
    : [
        ...blockdev({
          driver: 'raw',
          'node-name': 'executable',
          'read-only': true,
          file: { driver: 'file', filename: files.executable },
        }),
        '-device',
        'virtio-blk-pci,drive=executable,id=executable0',
      ]),
  ...(files.iso === undefined
    ? []
    : [
        ...blockdev({
          driver: 'raw',
          'node-name': 'iso',
          'read-only': true,
          file: { driver: 'file', filename: files.iso },
        }),
        '-device',
        'ide-cd,drive=iso,id=cd0,bootindex=2',
      ]),
]

const network = ({ settings, forwards }: Launch): string[] => {
  if (settings.network === 'none') return []
  const hostfwd = forwards.map(({ address, port, guestPort }) => `,hostfwd=tcp:${address}:${port}-:${guestPort}`)
  return [
    '-netdev',
    `user,id=net0${hostfwd.join('')}`,
    '-device',
    options('virtio-net-pci', { netdev: 'net0', mac: settings.macAddress, romfile: '' }),
  ]
}

const sharedFolders = ({ sharedDirectories }: Launch): string[] =>
  sharedDirectories.flatMap(({ hostPath, tag, readOnly }, index) => [
    '-fsdev',
    options('local', { id: `share${index}`, path: hostPath, security_model: 'none', readonly: readOnly }),
    '-device',
    options('virtio-9p-pci', { fsdev: `share${index}`, mount_tag: tag }),
  ])

/**
 * Mebibytes, a power of two, that hold two pictures of a screen at four bytes a pixel: Linux offers a guest no mode that
 * has no room for two. Undefined where the usual 16 do; 512 are the most that the device takes.
 */
const screenMebibytes = ({ width, height }: VmSettings['display']): number | undefined => {
  const needed = 2 ** Math.ceil(Math.log2((2 * width * height * 4) / 2 ** 20))
  return needed > 16 ? Math.min(needed, 512) : undefined
}

const screen = ({ settings, hasDisplay }: Launch): string[] => [
  '-device',
  options('VGA', {
    xres: settings.display.width,
    yres: settings.display.height,
    vgamem_mb: screenMebibytes(settings.display),
  }),
  '-device',
  'virtio-tablet-pci',
  '-device',
  'virtio-keyboard-pci',
  '-display',
  'none',
  // The first free port from 5900 on; everybody is refused until a password is set.
  ...(hasDisplay ? ['-vnc', '127.0.0.1:0,to=5000,password=on'] : []),
]
