/** Makes copies of a running VM that go on from where it is. */
import { Failure } from '@backlot/contract/failure'
import { hasRoomToShare, makeForks, type Wanted } from '../forks/make-forks.ts'
import { settleIdentity } from '../forks/wake.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { Work } from '../host/operations.ts'
import type { MemoryImage } from '../hypervisors/hypervisor.ts'
import type { Identity } from '../pools/pools.ts'
import { isSaved, readSaved, type SavedState } from '../snapshots/saved-state.ts'
import { together } from '../together.ts'
import { placeOf, type StoredVm, type VmPlace } from '../vms/vm-store.ts'
import { afresh, alone, findVm, refuseElsewhere } from './find.ts'
import { goOn } from './snapshot.ts'

export const forkVm: Handlers['forkVm'] = async (
  { name, count, names: named, storage, replaced, replacements = [] },
  host,
) => {
  const parent = await findVm(host, name, storage)
  const names = named ?? (await freeNames(host, parent, count ?? 1))
  if (count !== undefined && count !== names.length) throw wrongNames(`${count} forks want ${count} names`)
  if (new Set(names).size !== names.length) throw wrongNames('two forks have one name')
  if (replacements.length !== (replaced === undefined ? 0 : names.length)) {
    const why = '"replacements" are as many texts as forks, in the place of "replaced".'
    throw new Failure('invalid_argument', why, { argument: 'replacements' })
  }
  const userDataOf = (userData: string, fork: string): string =>
    replaced === undefined ? userData : userData.replaceAll(replaced, () => replacements[names.indexOf(fork)] ?? '')
  for (const each of names) await host.store.refuseTaken(placeOf(parent.storage, each))
  await host.takeCharge()
  refuseElsewhere(host, parent)
  const { id, done } = host.operations.begin('fork', parent, async (work) => {
    const identity = await takeReady(host, parent, { names, userDataOf }, work)
    const missing = names.filter((each) => !identity.has(each))
    if (missing.length > 0) {
      const make = () => fork(host, parent, { names: missing, userDataOf }, work)
      const { forks, image } = await alone(host, parent, make, work.signal)
      // Those that run have it mapped.
      using _ = image
      await together(forks.map(async (place) => void identity.set(place.name, await wake(host, place, image, work))))
    }
    return names.map((each) => identity.get(each) ?? 'shared')
  })
  const identity = await done
  return { message: `Virtual machine forked: ${name} to ${names.join(', ')}`, names, identity, operationId: id }
}

/** Forks that a pool has ready become those of these names, as many as there are; each with what its guest has. */
const takeReady = async (host: Host, parent: StoredVm, wanted: Wanted, work: Work): Promise<Map<string, Identity>> => {
  const identity = new Map<string, Identity>()
  for (const name of wanted.names) {
    const userDataOf = (userData: string) => wanted.userDataOf?.(userData, name) ?? userData
    const taken = await host.pools.take(parent, { name, userDataOf }, work)
    if (taken !== undefined) identity.set(name, taken)
  }
  return identity
}

const wrongNames = (why: string): Failure =>
  new Failure('invalid_argument', `"names" cannot be used: ${why}. Give as many different names as forks.`, {
    argument: 'names',
  })

/** Names after the VM's, with the first numbers that nobody has. */
const freeNames = async ({ store }: Host, { name, storage }: VmPlace, count: number): Promise<string[]> => {
  const taken = new Set((await store.listAll([storage])).map((vm) => vm.name))
  const names: string[] = []
  for (let number = 1; names.length < count; number++) {
    if (!taken.has(`${name}-${number}`)) names.push(`${name}-${number}`)
  }
  return names
}

/** Forks that are suspended, and the memory from which they go on where they share one. */
interface Made {
  readonly forks: readonly VmPlace[]
  readonly image: MemoryImage | undefined
}

/** Makes the forks; the parent goes on if it ran. */
const fork = async (host: Host, parent: StoredVm, wanted: Wanted, work: Work): Promise<Made> => {
  const machine = host.machines.get(parent.path)
  if (machine === undefined && !isSaved(parent.path)) {
    const next = 'Start it first, or clone it.'
    throw new Failure('vm_not_running', `"${parent.name}" does not run. ${next}`, { name: parent.name })
  }
  const { images } = host
  // Who is suspended is forked again, from the same memory.
  if (machine === undefined) return make(host, parent, wanted, work, (vm, saved) => images.of(vm, saved, work))
  await machine.suspend(work)
  let made: Made | undefined
  try {
    made = await make(host, parent, wanted, work, (vm, saved) => host.machines.share(vm, saved, work))
    return made
  } finally {
    await goOn(host, parent, work, made?.image)
  }
}

const make = async (
  host: Host,
  parent: StoredVm,
  wanted: Wanted,
  work: Work,
  share: (vm: StoredVm, saved: SavedState) => Promise<MemoryImage>,
): Promise<Made> => {
  const vm = await afresh(host, parent)
  const isShared = await hasRoomToShare(host, vm, wanted.names.length)
  const saved = await readSaved(vm.path)
  if (saved === undefined) throw new Failure('vm_not_running', `"${vm.name}" has no memory to fork.`, { name: vm.name })
  if (isShared) work.step('sharing the memory')
  const image = isShared ? await share(vm, saved) : undefined
  try {
    work.step('laying the disks')
    return { forks: await makeForks(host, vm, saved, wanted, work.signal), image }
  } catch (error) {
    image?.[Symbol.dispose]()
    throw error
  }
}

/** Lets a fork go on, and gives its guest what is to be its own. */
const wake = (host: Host, place: VmPlace, image: MemoryImage | undefined, work: Work): Promise<'own' | 'shared'> =>
  alone(host, place, async () => {
    const machine = await goOn(host, place, work, image)
    if (machine === undefined) throw new Failure('vm_not_suspended', `"${place.name}" is gone.`, { name: place.name })
    return settleIdentity(host, place, machine, work)
  })
