/** Makes copies of a running VM that go on from where it is. */
import { availableParallelism } from 'node:os'
import { Failure } from '@backlot/contract/failure'
import { settleAll } from '@backlot/contract/work/settle-all'
import { type ForkOptions, hasRoomToShare, makeForks, ownCopies } from '../forks/make-forks.ts'
import { finishIdentity } from '../forks/wake.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import type { Machine, MemoryImage } from '../hypervisors/hypervisor.ts'
import type { Identity } from '../pools/pools.ts'
import { atMost } from '../side-by-side.ts'
import { isSaved, readSaved, type SavedState } from '../snapshots/saved-state.ts'
import { readSnapshot } from '../snapshots/snapshot-store.ts'
import type { Storage } from '../storage/storage.ts'
import { placeOf, type StoredVm, type VmPlace } from '../vms/vm-store.ts'
import { collectBases } from './collect.ts'
import { exclusively, findVm, refuseElsewhere, reread } from './find.ts'
import { resumeAfterSnapshot } from './snapshot.ts'

export const forkVm: Handlers['forkVm'] = async (
  { name, count, names: named, storage, snapshot, replaced, replacements = [] },
  host,
) => {
  const parent = await findVm(host, name, storage)
  const names = named ?? (await freeNames(host, parent, count ?? 1))
  refuseWrong(names, count, replacements.length, replaced)
  const userDataOf = (userData: string, fork: string): string =>
    replaced === undefined ? userData : userData.replaceAll(replaced, () => replacements[names.indexOf(fork)] ?? '')
  for (const each of names) await host.store.refuseTaken(placeOf(parent.storage, each))
  await host.lockHome()
  refuseElsewhere(host, parent)
  const { id, done } = host.operations.begin('fork', parent, async (work) => {
    const owned: StoredVm[] = []
    try {
      const identity = await forkAll(host, parent, { names, userDataOf }, snapshot, work, owned)
      return names.map((each) => identity.get(each) ?? 'shared')
    } catch (error) {
      await removeForks(host, parent.storage, owned)
      throw error
    }
  })
  const identity = await done
  return { message: `Virtual machine forked: ${name} to ${names.join(', ')}`, names, identity, operationId: id }
}

/** Makes the forks, and says what the guest of each has; those that have their name are added to `owned`, whatever happens then. */
const forkAll = async (
  host: Host,
  parent: StoredVm,
  wanted: ForkOptions,
  snapshot: string | undefined,
  work: Task,
  owned: StoredVm[],
): Promise<Map<string, Identity>> => {
  // What a pool has ready goes on from where the VM is.
  const isNow = snapshot === undefined
  const identity = isNow ? await takeReady(host, parent, wanted, work, owned) : new Map<string, Identity>()
  const missing = { ...wanted, names: wanted.names.filter((each) => !identity.has(each)) }
  if (missing.names.length === 0) return identity
  const made = Promise.withResolvers<SuspendedForks>()
  const make = () =>
    isNow
      ? fork(host, parent, missing, work, made.resolve)
      : forkSnapshot(host, parent, snapshot, missing, work).then(made.resolve)
  const parentIsBack = exclusively(host, parent, make, work.signal)
  parentIsBack.catch(made.reject)
  const { forks, image } = await made.promise
  // Those that run have it mapped.
  using _ = image
  const limited = atMost(wokenAtOnce())
  const go = (place: VmPlace) => {
    const woken = wake(host, place, image, work, limited).then((given) => identity.set(place.name, given))
    const known = host.store.reread(place).then((vm) => owned.push(vm))
    return settleAll([woken, known])
  }
  await settleAll([parentIsBack, ...forks.map(go)])
  return identity
}

/** Ends and removes forks; what others have put in the place of one stays, and so does one that others work on, which is logged. */
const removeForks = async (host: Host, storage: Storage, forks: readonly StoredVm[]): Promise<void> => {
  const remove = async (fork: StoredVm) => {
    if ((await host.store.at(fork.path))?.settings.uuid !== fork.settings.uuid) return
    const machine = host.machines.get(fork.path)
    await machine?.kill()
    await machine?.ended
    await host.store.remove(fork)
    host.events.emit({ type: 'vm', name: fork.name, location: storage.name, status: null })
  }
  for (const fork of forks) {
    await exclusively(host, fork, () => remove(fork)).catch((error) => {
      const { code, message } = Failure.from(error)
      if (code !== 'vm_not_found') host.log.write('error', code, { vm: fork.name, message })
    })
  }
  if (forks.length > 0) await collectBases(host, storage)
}

/**
 * How many forks go on at a time: what each does first takes a processor, so more would only keep the first from answering
 * until all do.
 */
const wokenAtOnce = (): number => Math.max(2, availableParallelism())

/** Throws `invalid_argument` where names or replacements are not those of so many forks. */
const refuseWrong = (
  names: readonly string[],
  count: number | undefined,
  replacements: number,
  replaced: string | undefined,
): void => {
  if (count !== undefined && count !== names.length) throw wrongNames(`${count} forks want ${count} names`)
  if (new Set(names).size !== names.length) throw wrongNames('two forks have one name')
  if (replacements === (replaced === undefined ? 0 : names.length)) return
  const why = '"replacements" are as many texts as forks, in the place of "replaced".'
  throw new Failure('invalid_argument', why, { argument: 'replacements' })
}

/** Forks that a pool has ready become those of these names, as many as there are; each with what its guest has. */
const takeReady = async (
  host: Host,
  parent: StoredVm,
  wanted: ForkOptions,
  work: Task,
  owned: StoredVm[],
): Promise<Map<string, Identity>> => {
  const identity = new Map<string, Identity>()
  for (const name of wanted.names) {
    const userDataOf = (userData: string) => wanted.userDataOf?.(userData, name) ?? userData
    const taken = await host.pools.take(parent, { name, userDataOf }, work)
    if (taken === undefined) continue
    identity.set(name, taken)
    owned.push(await host.store.reread(placeOf(parent.storage, name)))
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
interface SuspendedForks {
  readonly forks: readonly VmPlace[]
  readonly image: MemoryImage | undefined
}

/** Makes the forks and hands them on; settles when the parent has gone on, if it ran. */
const fork = async (
  host: Host,
  parent: StoredVm,
  wanted: ForkOptions,
  work: Task,
  handOn: (made: SuspendedForks) => void,
): Promise<void> => {
  const machine = host.machines.get(parent.path)
  if (machine === undefined && !isSaved(parent.path)) {
    const next = 'Start it first, or clone it.'
    throw new Failure('vm_not_running', `"${parent.name}" does not run. ${next}`, { name: parent.name })
  }
  const lay = async (image: MemoryImage | undefined) => handOn({ forks: await make(host, parent, wanted, work), image })
  if (machine !== undefined) return whileSuspended(host, machine, wanted, work, lay)
  // Who is suspended is forked again, from the same memory.
  const vm = await reread(host, parent)
  const image = await keptImage(host, vm, await readSaved(vm.path), wanted, work)
  await lay(image).catch((error) => {
    image?.[Symbol.dispose]()
    throw error
  })
}

/** Does work with an image of the memory of a machine that stands still meanwhile, and is let go on then, whatever happens. */
const whileSuspended = async (
  host: Host,
  machine: Machine,
  wanted: ForkOptions,
  work: Task,
  lay: (image: MemoryImage | undefined) => Promise<void>,
): Promise<void> => {
  let [image, refused]: [MemoryImage | undefined, unknown] = [undefined, undefined]
  const share = async (memory: string) => {
    try {
      image = await newImage(host, machine, memory, wanted, work)
    } catch (error) {
      // It is saved all the same, and goes on from that.
      refused = error
    }
  }
  let isLaid = false
  try {
    await machine.suspend(work, share)
    if (refused !== undefined) throw refused
    await lay(image)
    isLaid = true
  } finally {
    await resumeAfterSnapshot(host, machine.place, work, image).finally(() => {
      if (!isLaid) image?.[Symbol.dispose]()
    })
  }
}

/** The image of a memory that is being written to the drive; undefined where there is no room for one. */
const newImage = async (
  host: Host,
  { place, memoryBytes }: Machine,
  memory: string,
  { names }: ForkOptions,
  work: Task,
): Promise<MemoryImage | undefined> => {
  if (!(await hasRoomToShare(host, place, names.length, memory))) return undefined
  return host.machines.hypervisor.share(place.name, memoryBytes, memory).catch(ownCopies(work))
}

/** That of a memory which lies there, kept for those that come soon; undefined where there is no room for one. */
const keptImage = async (
  host: Host,
  vm: StoredVm,
  saved: SavedState | undefined,
  { names }: ForkOptions,
  work: Task,
): Promise<MemoryImage | undefined> => {
  if (saved === undefined || !(await hasRoomToShare(host, vm, names.length))) return undefined
  work.step('sharing the memory')
  return host.images.of(vm, saved).catch(ownCopies(work))
}

/** Makes the forks of what a snapshot keeps; nothing is done with the VM, whatever it does. */
const forkSnapshot = async (
  host: Host,
  parent: StoredVm,
  snapshot: string,
  wanted: ForkOptions,
  work: Task,
): Promise<SuspendedForks> => {
  const vm = await reread(host, parent)
  const kept = await readSnapshot(vm, snapshot)
  const image = await keptImage(host, { ...vm, path: kept.folder }, kept.saved, wanted, work)
  try {
    work.step('laying the disks')
    return { forks: await makeForks(host, vm, kept.saved, { ...wanted, kept }, work.signal), image }
  } catch (error) {
    image?.[Symbol.dispose]()
    throw error
  }
}

/** Makes the forks of a VM that is suspended. */
const make = async (host: Host, parent: StoredVm, wanted: ForkOptions, work: Task): Promise<VmPlace[]> => {
  const vm = await reread(host, parent)
  const saved = await readSaved(vm.path)
  if (saved === undefined) throw new Failure('vm_not_running', `"${vm.name}" has no memory to fork.`, { name: vm.name })
  work.step('laying the disks')
  return makeForks(host, vm, saved, wanted, work.signal)
}

/** Lets a fork go on, and gives its guest what is to be its own; whoever wants it meanwhile waits, also while it is not its turn. */
const wake = (
  host: Host,
  place: VmPlace,
  image: MemoryImage | undefined,
  work: Task,
  limited: ReturnType<typeof atMost>,
): Promise<'own' | 'shared'> => {
  const go = async () => {
    const machine = await resumeAfterSnapshot(host, place, work, image)
    if (machine === undefined) throw new Failure('vm_not_suspended', `"${place.name}" is gone.`, { name: place.name })
    return finishIdentity(host, place, machine, work)
  }
  return exclusively(host, place, () => limited(go))
}
