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
  /** The turn of the last read, and of that which last told about a VM or an operation, by key or id. */
  #turn = 0
  readonly #toldAt = new Map<string, number>()

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
      this.#toldAt.set(event.operation.id, ++this.#turn)
      void this.readVm(event.operation.name, event.operation.location)
    } else void this.readVm(event.name, event.location)
    this.#tell()
  }

  async #readAll(): Promise<void> {
    const turn = ++this.#turn
    try {
      const [vms, operations, config] = await Promise.all([
        service.listVms(),
        service.listOperations(),
        service.getConfig(),
      ])
      this.#replace(this.vms, vms, vmKey, turn)
      this.#replace(this.operations, operations, ({ id }) => id, turn)
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

  /** Reads one VM afresh; one that is not there is gone. Answers may overtake each other: the last question counts. */
  async readVm(name: string, storage: string): Promise<void> {
    const key = vmKey({ name, locationName: storage })
    const turn = ++this.#turn
    const vm = await service.getVm({ name, storage }).catch(() => undefined)
    if (turn < (this.#toldAt.get(key) ?? 0)) return
    this.#toldAt.set(key, turn)
    if (vm === undefined) this.vms.delete(key)
    else this.vms.set(key, vm)
    this.#tell()
  }

  /** Puts a list that was asked for at that turn in the place of another, but for what was told since. */
  #replace<Item>(map: Map<string, Item>, items: readonly Item[], keyOf: (item: Item) => string, turn: number): void {
    const isLater = (key: string) => (this.#toldAt.get(key) ?? 0) > turn
    const kept = [...map].filter(([key]) => isLater(key))
    const listed = items.map((item) => [keyOf(item), item] as const).filter(([key]) => !isLater(key))
    map.clear()
    for (const [key, item] of [...listed, ...kept]) map.set(key, item)
  }

  #tell(): void {
    for (const follower of this.#followers) follower()
  }
}

const sameVm = (operation: Operation, vm: Vm): boolean =>
  operation.name === vm.name && operation.location === vm.locationName
