/** What a hypervisor can do for the host, and what a machine that runs under it can. */
import type { NetworkInterface } from '@backlot/contract/vmhost/guest'
import type { HypervisorFeature } from '@backlot/contract/vmhost/observing'
import type { Ending, Forward, SharedDirectory } from '@backlot/contract/vmhost/vm'
import type { SavedState } from '../snapshots/saved-state.ts'
import type { StoredVm, VmPlace } from '../vms/vm-store.ts'
import type { Accelerator } from './qemu/arguments.ts'
import type { GuestCommand, GuestResult, Limits } from './qemu/guest/guest-exec.ts'
import type { FileOptions } from './qemu/guest/guest-files.ts'
import type { GuestOutput } from './qemu/guest/guest-stream.ts'

/** How somebody wants a VM to be run. */
export interface RunOptions {
  readonly hasDisplay: boolean
  readonly sharedDirectories: readonly SharedDirectory[]
  /** The saved memory with which the VM goes on; absent where it boots. */
  readonly saved?: SavedState | undefined
  /** Made of that memory; where it is given, its pages are mapped instead of read. */
  readonly image?: MemoryImage | undefined
}

/** A saved memory from which several machines go on without each reading it; there as long as one of them runs. */
export interface MemoryImage extends Disposable {
  /** Descriptor of the memory's pages, which nobody can write to any more. */
  readonly pages: number
  /** Descriptor of what else was saved. */
  readonly devices: number
}

/** Hears what the hypervisor and the tools around it write. */
export type WriteLine = (line: string) => void

/** Hears how far long work is, and says when it is to end. */
export interface Progress {
  readonly signal: AbortSignal
  step(text: string): void
  progress(doneBytes: number, totalBytes: number | null): void
}

/** Starts VMs, and finds those that run already. */
export interface Hypervisor {
  readonly name: string
  /** What it can do; what it lacks is refused before it is asked of it. */
  readonly features: Readonly<Record<HypervisorFeature, boolean>>
  /**
   * Starts the VM and settles when its processor runs; what was begun is ended when it is cancelled. Throws `vm_running`, and for what kept it from starting
   * `port_in_use`, `disk_in_use`, `disk_corrupt`, `host_memory`, `hypervisor_failed`, `hypervisor_timeout` or
   * `missing_program`, `memory_unreadable` where it was to go on with a saved memory; no process is left then, and a saved
   * memory stays as it was.
   */
  start(vm: StoredVm, options: RunOptions, tell: WriteLine, signal: AbortSignal): Promise<Machine>
  /**
   * Makes an image of the memory in a file that `suspend` has written, of a VM of that name which was started with so many
   * bytes. Throws `host_memory`, and `memory_unreadable` where it cannot be laid out: a machine reads it itself then.
   */
  share(name: string, memoryBytes: number, saved: string): Promise<MemoryImage>
  /**
   * The machine of a VM whose service died; undefined where none lives, and what was left of it is removed. Throws
   * `vm_damaged` where one lives and nothing tells how it was started: `end` is all that can be done then.
   */
  adopt(vm: StoredVm): Promise<Machine | undefined>
  /**
   * Ends the process that runs the VM, whatever is known of it. Throws `vm_damaged` where what holds the VM's lock is no
   * hypervisor, and `vm_not_stopped`.
   */
  end(vm: VmPlace): Promise<void>
  /** What a saved memory depends on beside its VM: the hypervisor, its version, and what runs the guest's instructions. */
  identity(): Promise<string>
  /** Whether one lives for the VM, whoever started it and looks after it. */
  lives(vm: VmPlace): boolean
}

/**
 * What is done inside a guest, through its agent, for which one that was just started is waited; all of it throws
 * `agent_unavailable`, with `hasBegun` in its data where the agent was asked and may have done it.
 */
export interface Guest {
  /** Its network interfaces as its system knows them now. */
  interfaces(): Promise<NetworkInterface[]>
  /**
   * Runs a command with the guest's shell. Throws, once the command is ended, `guest_timeout` and what the signal is aborted
   * with.
   */
  execute(command: GuestCommand, timeoutMs: number, signal?: AbortSignal): Promise<GuestResult>
  /**
   * Begins a command with the guest's shell, and gives its output as it comes, then its exit status; the output throws
   * `guest_timeout`, what its input throws, and what the signal is aborted with. A command whose output is not read waits for
   * that, and one of which it is not read to its end is ended. Where the guest has no Linux all of the output comes at the end.
   */
  stream(command: GuestCommand, limits: Limits): Promise<AsyncGenerator<GuestOutput, number>>
  /** The bytes of a file of a guest with Linux. Throws `guest_file_failed`. */
  readFile(path: string): Promise<AsyncGenerator<Uint8Array>>
  /** Writes a file whole or not at all, and gives its size. Throws `guest_file_failed` and what the bytes throw. */
  writeFile(path: string, bytes: AsyncIterable<Uint8Array>, options: FileOptions): Promise<number>
}

/** A VM that runs: a process of its own. */
export interface Machine {
  /** The VM as it was when it was started. */
  readonly place: StoredVm
  readonly pid: number
  readonly accelerator: Accelerator
  readonly startedAt: string
  /** What it was started with, which is the most it can have. */
  readonly memoryBytes: number
  readonly ipAddress: string | null
  readonly forwards: readonly Forward[]
  readonly sharedDirectories: readonly SharedDirectory[] | null
  /** The VNC server on this machine; undefined without a display. */
  readonly vnc: { readonly host: string; readonly port: number; readonly password: string } | undefined
  /** Whether an SSH server of the guest has answered. */
  readonly sshAvailable: boolean
  /** Why the guest stands still though nobody asked for it. */
  readonly trouble: string | null
  /** Settles when the process is gone and what it left is removed. */
  readonly ended: Promise<Ending>
  /** Asks the guest to shut down, and says by which way; undefined where it cannot be asked. */
  askToShutDown(): Promise<'agent' | 'acpi' | undefined>
  /** Whether an agent of the guest listens now. */
  hasAgent(): Promise<boolean>
  /** What is done inside the guest. */
  readonly guest: Guest
  /** Ends the process, through its own command or by a signal. */
  kill(): Promise<void>
  /**
   * Saves the memory and the devices beside the disk and ends the process, once all of it is on the drive. Throws
   * `memory_not_saved` and `disk_full`, and when cancelled; the VM runs on then. `meanwhile` is given the file that the memory
   * is in while it comes to the drive; what that throws is the VM's failure to be saved.
   */
  suspend(work: Progress, meanwhile?: (saved: string) => Promise<void>): Promise<void>
  /** Grows the disk to so many bytes. */
  growDisk(bytes: number): Promise<void>
  /**
   * Gives the guest so much memory, at most what it was started with; says whether the guest takes part. One that does not,
   * or that was being waited for when this is cancelled, keeps what it had.
   */
  setMemory(bytes: number, signal: AbortSignal): Promise<boolean>
  /** Lets go of it; the process runs on. */
  release(): void
}
