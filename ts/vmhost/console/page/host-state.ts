/** What the page knows of the host: its lists, kept true by its events. */
import type { HostEvent, Operation } from '@backlot/contract/vmhost/operation'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { eventsUrl, service } from './reach.ts'

/** How the page hears from the service. */
export type Connection = 'connecting' | 'live' | 'lost'

/** Where VMs may be kept. */
export interface Storage {
  readonly names: readonly string[]
  readonly usual: string
}

/** Milliseconds after which a service that ended the stream of events is tried again. */
const tryAgainMs = 3_000

/** What tells a VM from others: names are free again in each location. */
export const vmKey = ({ name, locationName }: Pick<Vm, 'name' | 'locationName'>): string => `${locationName}/${name}`

/** The host as the page sees it; `follow` is called after each change. */
export class HostState {
  readonly vms = new Map<string, Vm>()
  readonly operations = new Map<string, Operation>()
  storage: Storage = { names: [], usual: '' }
  connection: Connection = 'connecting'
  /** Why the lists could not be read. */
  fault: string | undefined
  /** Whether the lists have been read once. */
  isRead = false
  readonly #followers = new Set<() => void>()

  constructor() {
    this.#listen()
  }

  follow(follower: () => void): () => void {
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }

  /** The VMs by name. */
  sorted(): Vm[] {
    return [...this.vms.values()].sort((a, b) => vmKey(a).localeCompare(vmKey(b)))
  }

  /** The operations on a VM, the latest first. */
  operationsOf(vm: Vm): Operation[] {
    return [...this.operations.values()].filter((each) => sameVm(each, vm)).reverse()
  }

  #listen(): void {
    const source = new EventSource(eventsUrl)
    source.addEventListener('open', () => {
      this.connection = 'live'
      void this.#readAll()
    })
    source.addEventListener('error', () => {
      this.connection = 'lost'
      this.#tell()
      // A stream that broke off comes back by itself, with what was missed; one that was refused does not.
      if (source.readyState !== EventSource.CLOSED) return
      void this.#readAll()
      setTimeout(() => this.#listen(), tryAgainMs)
    })
    for (const type of ['vm', 'operation', 'reset'] as const) {
      source.addEventListener(type, (message) => this.#take(JSON.parse(message.data) as HostEvent))
    }
  }

  #take(event: HostEvent): void {
    if (event.type === 'reset') void this.#readAll()
    else if (event.type === 'operation') {
      this.operations.set(event.operation.id, event.operation)
      void this.readVm(event.operation.name, event.operation.location)
    } else void this.readVm(event.name, event.location)
    this.#tell()
  }

  async #readAll(): Promise<void> {
    try {
      const [vms, operations, config] = await Promise.all([
        service.listVms(),
        service.listOperations(),
        service.getConfig(),
      ])
      replace(this.vms, vms, vmKey)
      replace(this.operations, operations, ({ id }) => id)
      this.storage = {
        names: config.vmLocations.map(({ name }) => name),
        usual: config.defaultLocationName,
      }
      this.fault = undefined
      this.isRead = true
    } catch (error) {
      this.fault = (error as Error).message
    }
    this.#tell()
  }

  /**
   * Reads the VM of a key that is in no list, such as one in a folder that is no location, or of a name alone as the
   * service finds it; gives it where there is one.
   */
  async lookFor(key: string): Promise<Vm | undefined> {
    const slash = key.lastIndexOf('/')
    const name = key.slice(slash + 1)
    const vm = await service.getVm(slash < 0 ? { name } : { name, storage: key.slice(0, slash) }).catch(() => undefined)
    if (vm === undefined) return undefined
    this.vms.set(vmKey(vm), vm)
    this.#tell()
    return vm
  }

  /** Reads one VM afresh; one that is not there is gone. */
  async readVm(name: string, storage: string): Promise<void> {
    try {
      const vm = await service.getVm({ name, storage })
      this.vms.set(vmKey(vm), vm)
    } catch {
      this.vms.delete(vmKey({ name, locationName: storage }))
    }
    this.#tell()
  }

  #tell(): void {
    for (const follower of this.#followers) follower()
  }
}

const sameVm = (operation: Operation, vm: Vm): boolean =>
  operation.name === vm.name && operation.location === vm.locationName

const replace = <Item>(map: Map<string, Item>, items: readonly Item[], keyOf: (item: Item) => string): void => {
  map.clear()
  for (const item of items) map.set(keyOf(item), item)
}
