/** The VMs that run, as this service knows them: each looked up by its folder. */
import { Failure } from '@backlot/contract/failure'
import type { VmStatus } from '@backlot/contract/vmhost/vm'
import type { Events } from './events.ts'
import type { Hypervisor, Machine, RunOptions } from './hypervisors/hypervisor.ts'
import type { LogFile } from './log-file.ts'
import type { Work } from './operations.ts'
import type { Storage } from './storage.ts'
import type { StoredVm, VmPlace } from './vm-store.ts'

/** The machines of a host. */
export class Machines {
  readonly #live = new Map<string, Machine>()
  readonly #starting = new Set<string>()

  constructor(
    readonly hypervisor: Hypervisor,
    readonly events: Events,
    readonly log: LogFile,
  ) {}

  /** The machine of the VM in that folder, if it runs. */
  get(path: string): Machine | undefined {
    return this.#live.get(path)
  }

  /** What the VM does, as far as its hypervisor goes. */
  status(vm: VmPlace): Extract<VmStatus, 'starting' | 'running' | 'stopped'> {
    if (this.#live.has(vm.path)) return 'running'
    if (this.#starting.has(vm.path)) return 'starting'
    // Another service may look after it.
    return this.hypervisor.lives(vm) ? 'running' : 'stopped'
  }

  /** Whether this service has to do with a hypervisor of the VM, or is about to. */
  knows({ path }: VmPlace): boolean {
    return this.#live.has(path) || this.#starting.has(path)
  }

  /** The VMs that run of these storages, whatever became of their folders. */
  in(storages: readonly Storage[]): StoredVm[] {
    const folders = storages.map(({ path }) => path)
    return [...this.#live.values()].map(({ place }) => place).filter(({ storage }) => folders.includes(storage.path))
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
    if (this.status(vm) === 'stopped') return
    throw new Failure('vm_running', `Virtual machine is running: "${vm.name}". ${next}`, { name: vm.name })
  }

  /** From now on the VM starts, until `start` or `giveUp` has its outcome. */
  announce(vm: VmPlace): void {
    this.#starting.add(vm.path)
    this.#tell(vm, 'starting')
  }

  /** Starts it; throws what its hypervisor throws. */
  async start(vm: StoredVm, options: RunOptions, work: Work): Promise<Machine> {
    try {
      const machine = await this.hypervisor.start(vm, options, (line) => work.message(line), work.signal)
      this.#keep(machine)
      return machine
    } finally {
      this.giveUp(vm)
    }
  }

  /** It does not start any more; says what it does instead. */
  giveUp(vm: VmPlace): void {
    if (this.#starting.delete(vm.path)) this.#tell(vm, this.status(vm))
  }

  /** Finds the machine that a service before this one has started. */
  async adopt(vm: StoredVm): Promise<void> {
    if (this.#live.has(vm.path)) return
    const machine = await this.hypervisor.adopt(vm)
    if (machine === undefined) return
    this.log.write('info', 'adopted', { vm: vm.name, pid: machine.pid })
    this.#keep(machine)
  }

  /** Lets go of all of them; they run on. */
  release(): void {
    for (const machine of this.#live.values()) machine.release()
    this.#live.clear()
  }

  #keep(machine: Machine): void {
    const { path } = machine.place
    this.#live.set(path, machine)
    if (!this.#starting.has(path)) this.#tell(machine.place, 'running')
    machine.ended.then((ending) => {
      if (this.#live.get(path) === machine) this.#live.delete(path)
      this.log.write(ending.expected ? 'info' : 'error', 'ended', { vm: machine.place.name, cause: ending.cause })
      this.#tell(machine.place, 'stopped')
    })
  }

  #tell({ name, storage }: VmPlace, status: VmStatus): void {
    this.events.emit({ type: 'vm', name, location: storage.name, status })
  }
}
