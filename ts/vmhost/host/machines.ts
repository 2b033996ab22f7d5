/** The VMs that run, as this service knows them: each looked up by its folder. */
import { Failure } from '@backlot/contract/failure'
import type { VmStatus } from '@backlot/contract/vmhost/vm'
import type { Hypervisor, Machine, MemoryImage, RunOptions } from '../hypervisors/hypervisor.ts'
import { isSaved, type SavedState } from '../snapshots/saved-state.ts'
import type { Storage } from '../storage/storage.ts'
import { isHidden, vmPath } from '../vms/vm-directory.ts'
import type { StoredVm, VmPlace } from '../vms/vm-store.ts'
import type { Events } from './events.ts'
import type { LogFile } from './log-file.ts'
import type { Task } from './operations.ts'

/** The machines of a host. */
export class Machines {
  readonly #live = new Map<string, Machine>()
  readonly #held = new Map<Machine, Disposable | undefined>()
  readonly #starting = new Set<string>()

  constructor(
    readonly hypervisor: Hypervisor,
    readonly events: Events,
    readonly log: LogFile,
    /** Takes the lock of a VM, which whoever starts or adopts one holds already. */
    readonly hold: (vm: VmPlace) => Disposable | undefined,
  ) {}

  /** The machine of the VM in that folder, if it runs. */
  get(path: string): Machine | undefined {
    return this.#live.get(path)
  }

  /** What the VM does, as far as its hypervisor goes. */
  status(vm: VmPlace): Extract<VmStatus, 'starting' | 'running' | 'suspended' | 'stopped'> {
    if (this.#live.has(vm.path)) return 'running'
    if (this.#starting.has(vm.path)) return 'starting'
    // Another service may look after it.
    if (this.hypervisor.lives(vm)) return 'running'
    return isSaved(vm.path) ? 'suspended' : 'stopped'
  }

  /** Whether the VM is about to run, by what this service does. */
  isStarting({ path }: VmPlace): boolean {
    return this.#starting.has(path)
  }

  /** Whether a hypervisor of the VM lives that this service does not look after. */
  isElsewhere(vm: VmPlace): boolean {
    return !this.knows(vm) && this.hypervisor.lives(vm)
  }

  /** Whether this service has to do with a hypervisor of the VM, or is about to. */
  knows({ path }: VmPlace): boolean {
    return this.#live.has(path) || this.#starting.has(path)
  }

  /** The VMs that run of these storages, whatever became of their folders. */
  in(storages: readonly Storage[]): StoredVm[] {
    const folders = storages.map(({ path }) => path)
    return [...this.#live.values()]
      .map(({ place }) => place)
      .filter(({ name, storage }) => !isHidden(name) && folders.includes(storage.path))
  }

  get count(): number {
    return this.#live.size + this.#starting.size
  }

  /** The processes of those that run. */
  get pids(): number[] {
    return [...this.#live.values()].map(({ pid }) => pid)
  }

  /** Throws `vm_running` where the VM runs; `next` says what to do about it. */
  refuseRunning(vm: VmPlace, next: string): void {
    const status = this.status(vm)
    if (status === 'stopped' || status === 'suspended') return
    throw new Failure('vm_running', `Virtual machine is running: "${vm.name}". ${next}`, { name: vm.name })
  }

  /** Throws `vm_suspended` where the VM is suspended; `next` says what to do about it. */
  refuseSuspended(vm: VmPlace, next: string): void {
    if (this.status(vm) !== 'suspended') return
    throw new Failure('vm_suspended', `Virtual machine is suspended: "${vm.name}". ${next}`, { name: vm.name })
  }

  /** From now on the VM starts, until `start` or `giveUp` has its outcome. */
  announce(vm: VmPlace): void {
    this.#starting.add(vm.path)
    this.#tell(vm, 'starting')
  }

  /** Starts it; throws what its hypervisor throws. */
  async start(vm: StoredVm, options: RunOptions, work: Task): Promise<Machine> {
    try {
      const machine = await this.hypervisor.start(vm, options, (line) => work.message(line), work.signal)
      this.#keep(machine)
      return machine
    } finally {
      this.giveUp(vm)
    }
  }

  /** Makes an image of the memory of a suspended VM; throws what its hypervisor throws. */
  share({ name, path }: StoredVm, { memoryBytes }: SavedState): Promise<MemoryImage> {
    return this.hypervisor.share(name, memoryBytes, vmPath(path, 'memory'))
  }

  /** It does not start any more; says what it does instead. */
  giveUp(vm: VmPlace): void {
    if (this.#starting.delete(vm.path)) this.#tell(vm, this.status(vm))
  }

  /** Finds the machine that a service before this one has started, for whoever holds the lock of the VM. */
  async adopt(vm: StoredVm): Promise<void> {
    if (this.#live.has(vm.path)) return
    const machine = await this.hypervisor.adopt(vm)
    if (machine === undefined) return
    this.log.write('info', 'adopted', { vm: vm.name, pid: machine.pid })
    this.#keep(machine)
  }

  /**
   * Ends the hypervisor of a VM of which nothing tells how it was started, by force; whoever calls holds the lock of the VM.
   * Throws `vm_damaged` where what holds its lock is no hypervisor, and `vm_not_stopped`.
   */
  async end(vm: VmPlace): Promise<void> {
    await this.hypervisor.end(vm)
    this.log.write('info', 'ended', { vm: vm.name, cause: 'It was stopped by force.' })
    this.#tell(vm, 'stopped')
  }

  /**
   * Gives a VM that runs another folder, which `move` does: it is let go of, and found again where it is then. Undefined where
   * it has ended meanwhile.
   */
  async move(vm: VmPlace, move: () => Promise<StoredVm>): Promise<Machine | undefined> {
    const machine = this.#live.get(vm.path)
    if (machine === undefined) return undefined
    let place = machine.place
    machine.release()
    this.#live.delete(vm.path)
    try {
      place = await move()
    } finally {
      const found = await this.hypervisor.adopt(place).finally(() => this.#letGo(machine))
      if (found !== undefined) this.#keep(found)
    }
    return this.#live.get(place.path)
  }

  /** Lets go of all of them; they run on. */
  release(): void {
    for (const machine of this.#live.values()) {
      machine.release()
      this.#letGo(machine)
    }
    this.#live.clear()
  }

  #keep(machine: Machine): void {
    const { path } = machine.place
    this.#live.set(path, machine)
    this.#held.set(machine, this.hold(machine.place))
    if (!this.#starting.has(path)) this.#tell(machine.place, 'running')
    machine.ended.then((ending) => {
      if (this.#live.get(path) === machine) this.#live.delete(path)
      this.#letGo(machine)
      this.log.write(ending.expected ? 'info' : 'error', 'ended', { vm: machine.place.name, cause: ending.cause })
      this.#tell(machine.place, isSaved(path) ? 'suspended' : 'stopped')
    })
  }

  #letGo(machine: Machine): void {
    this.#held.get(machine)?.[Symbol.dispose]()
    this.#held.delete(machine)
  }

  #tell({ name, storage }: VmPlace, status: VmStatus): void {
    if (!isHidden(name)) this.events.emit({ type: 'vm', name, location: storage.name, status })
  }
}
