/** The folder of a VM: `LOCATION/NAME/`, known by its marker `vm.json`. Every name in it stands here. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Files that a VM's folder may hold; what is not among them is never touched. */
export const vmFiles = {
  /** The settings; a folder without it is no VM. */
  settings: 'vm.json',
  disk: 'disk.qcow2',
  /** The next disk while a clone puts an overlay into the place of the present one. */
  nextDisk: '.disk.next',
  kernel: 'kernel',
  initrd: 'initrd',
  /** The disk with the executable, for guests that run it; never another one as long as the VM lives. */
  executable: 'executable.img',
  /** The disc of the image that it was made of. */
  iso: 'install.iso',
  /** UEFI variables. */
  variables: 'nvram.qcow2',
  /** What its memory was saved from; there while the VM is suspended, and until one that is resumed has run. */
  saved: 'saved.json',
  /** The memory and the devices, as QEMU's migration writes them. */
  memory: 'memory.state',
  /** The same while it is being written. */
  nextMemory: '.memory.next',
  /** How many forks of it are kept ready, while it is suspended. */
  pool: 'pool.json',
  /** The folder of its snapshots: one folder each, named as the snapshot is. */
  snapshots: 'snapshots',
  /** How it was started; there while a hypervisor of it may live. Holds the VNC password. */
  run: 'run.json',
  /** How the last hypervisor ended. */
  ended: 'ended.json',
  /** Locked as long as a hypervisor lives. */
  lock: 'lock',
  /** Locked by the service that makes the VM, works on it or looks after its hypervisor. */
  work: 'work.lock',
  pid: 'hypervisor.pid',
  serial: 'serial.log',
  hypervisorLog: 'hypervisor.log',
} as const

/** What a VM is started with beside its disk, each where its image has such; never written to. */
export const startFiles = ['kernel', 'initrd', 'executable', 'iso'] as const

/** The folder of files for cloud-init, and their names. */
export const seedFolder = 'seed'
export const seedFiles = ['meta-data', 'user-data', 'network-config'] as const

/** Before the name of a folder that is being made, and of one that is being removed. */
export const newPrefix = '.new-'
export const gonePrefix = '.gone-'

/** Before the hash in the name of a template's folder. */
export const templatePrefix = '.template-'

/** Whether a VM of that name is a template, which nobody is shown as a VM. */
export const isTemplate = (name: string): boolean => name.startsWith(templatePrefix)

/** Before the number in the name of a fork's folder that waits in a warm pool. */
export const poolPrefix = '.pool-'

/** Whether a VM of that name is one of the service's own, which nobody is shown. */
export const isHidden = (name: string): boolean => isTemplate(name) || name.startsWith(poolPrefix)

/** The folder of a location that holds the disks which overlays stand on. */
export const basesFolder = '.bases'
/** Locked, beside it, while somebody makes or removes one of those. */
export const basesLock = '.bases.lock'

/** Whether a file in a VM's folder is one that its writer was going to rename: ours, and one of the native core. */
export const isUnfinished = (file: string): boolean =>
  file === vmFiles.nextDisk || file === vmFiles.nextMemory || /^\.[0-9a-f-]{36}\.tmp$|^\..+\.new-\d+-\d+$/.test(file)

/** The path of a file in a VM's folder. */
export const vmPath = (folder: string, file: keyof typeof vmFiles): string => join(folder, vmFiles[file])

/** Whether a hypervisor of the VM may live, and if not, something of it is left. */
export const wasRunning = (folder: string): boolean =>
  existsSync(vmPath(folder, 'run')) || existsSync(vmPath(folder, 'lock'))
