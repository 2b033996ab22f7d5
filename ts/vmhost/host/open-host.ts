/** Puts a host together from its places, and takes up what a service before this one has left. */
import { mkdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { Directories } from '@backlot/contract/places'
import { core, type FileLock } from '../core.ts'
import { Bases } from '../disks/bases.ts'
import { fileFailure } from '../files/file-failure.ts'
import { FileLocks } from '../files/file-locks.ts'
import { MemoryImages } from '../forks/memory-images.ts'
import type { Accelerator } from '../hypervisors/qemu/arguments.ts'
import { qemu } from '../hypervisors/qemu/start.ts'
import { Transfers } from '../images/transfers.ts'
import { collectBases } from '../lifecycle/collect.ts'
import { adoptIfFree } from '../lifecycle/find.ts'
import { sizeOfPool } from '../pools/pool-file.ts'
import { pooledForksIn, sweepPools } from '../pools/sweep.ts'
import { WarmPools } from '../pools/warm-pools.ts'
import { ephemeral, type Storage, searched, storageOf } from '../storage/storage.ts'
import { TemplatesInUse } from '../templates/in-use.ts'
import { isHalfMade, sweepTemplates, templatesIn } from '../templates/sweep.ts'
import { finishInterruptedMove } from '../vms/move.ts'
import { vmPath, wasRunning } from '../vms/vm-directory.ts'
import { type StoredVm, VmStore } from '../vms/vm-store.ts'
import { Events } from './events.ts'
import type { Host } from './host.ts'
import { KeyedLock } from './keyed-lock.ts'
import { Listing } from './listing.ts'
import { LogFile } from './log-file.ts'
import { Machines } from './machines.ts'
import { Operations } from './operations.ts'
import { settingsAt } from './settings.ts'

/** Bytes of the VM host's log file, after which another is begun; one before it is kept. */
const hostLogBytes = 2_000_000

/** Events of the VM host that are kept for those who come back. */
const eventsKept = 1_000

/** A host, without what depends on the address of its service. */
export type OpenHost = Omit<Host, 'newLink'> & AsyncDisposable

/** Milliseconds that a service which ends waits for what it has cancelled; the next one removes the rest. */
const endsWithinMs = 5_000

/**
 * The host whose files stand in `places`. Disposing of it cancels what is under way and lets go of the VMs, which run on.
 * Throws `config_unreadable`.
 */
export const openHost = async (
  places: Directories,
  accelerator: () => Promise<Accelerator>,
  stopGraceMs: number,
  executable?: string,
): Promise<OpenHost> => {
  const settings = settingsAt(places)
  await settings.read()
  let charge: FileLock | undefined
  let recovered: ReturnType<typeof recover> | undefined
  const host: Open = {
    ...partsOf(settings, places, accelerator),
    pools: new WarmPools(() => ({ ...host, newLink: () => undefined })),
    templates: new TemplatesInUse(),
    stopGraceMs,
    executable,
    async lockHome() {
      charge ??= takeHome(places)
      recovered ??= recover(host)
      // Who waits to stop a VM does not wait until another service is done with a location's bases.
      await recovered
    },
  }
  await recoverWhatIsLeft(host)
  await (await recovered)?.collecting
  return {
    ...host,
    async [Symbol.asyncDispose]() {
      host.pools.stop()
      await host.operations.cancelAll(endsWithinMs)
      await host.pools[Symbol.asyncDispose]()
      host.machines.release()
      charge?.release()
    },
  }
}

/** What a host is made of, whoever looks after its VMs. */
const partsOf = (
  settings: ReturnType<typeof settingsAt>,
  places: Directories,
  accelerator: () => Promise<Accelerator>,
) => {
  const log = new LogFile(join(places.state, 'vmhost.log'), hostLogBytes, lock)
  const events = new Events(Date.now().toString(36), eventsKept)
  const turns = new KeyedLock()
  const locks = new FileLocks(lock)
  const operations = new Operations(events, ({ id, kind, name, state, cause }) =>
    log.write(state === 'failed' ? 'error' : 'info', kind, { id, vm: name, state, ...(cause && { cause }) }),
  )
  const damage = new Set<string>()
  const store = new VmStore(settings, places.data, locks, ({ code, message }) => {
    // The same folders are looked at many times.
    if (damage.has(message)) return
    damage.add(message)
    log.write('error', code, { message })
  })
  // The folder of a login session goes with the session, and the VMs stay.
  const hypervisor = qemu({ sockets: join(places.state, 'vm'), accelerator, lock })
  const machines = new Machines(hypervisor, events, log, ({ path }) => locks.tryTake(vmPath(path, 'work')))
  return {
    ...{ settings, store, machines, operations, events, turns, locks, log },
    images: new MemoryImages(machines),
    creations: new Map(),
    transfers: new Transfers(join(places.state, 'transfers'), operations),
    listing: new Listing(),
    bases: new Bases(turns, locks),
  }
}

/** Takes the lock on a file; undefined where a living process holds it. */
const lock = (path: string): FileLock | undefined => core().FileLock.take(path) ?? undefined

/** Takes the lock that lies with the VMs: services of other login sessions, or that come by another path, see the same. */
const takeHome = ({ data }: Directories): FileLock => {
  const path = join(data, 'vmhost.lock')
  let taken: FileLock | undefined
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    taken = lock(path)
  } catch (error) {
    const failure = fileFailure(error, data)
    if (failure instanceof Failure) throw failure
    throw new Failure(
      'storage_unusable',
      `"${path}" cannot be locked: ${(error as Error).message}. Make it a file of your own, or remove it where no service runs.`,
      { path },
    )
  }
  if (taken !== undefined) return taken
  throw new Failure(
    'already_running',
    `Another service looks after the VMs of "${data}" already; use that one, or end it.`,
    { path: data },
  )
}

/** What a service before this one may have left. */
interface Left {
  readonly storages: readonly Storage[]
  readonly running: readonly StoredVm[]
  readonly moved: readonly StoredVm[]
  readonly pooling: readonly StoredVm[]
  readonly ephemeralStorage: Storage
}

type Open = Omit<Host, 'newLink'>

/** Looks what a service before this one has left; undefined where that is nothing. */
const leftIn = async (host: Open): Promise<Left | undefined> => {
  const settings = await host.settings.read()
  const storages: Storage[] = []
  const ephemeralStorage = storageOf(settings, host.store.data, ephemeral)
  for (const storage of [...searched(settings), ephemeralStorage]) {
    // Whoever asks for one that cannot be read is told why.
    if ((await readdir(storage.path).catch(() => undefined)) !== undefined) storages.push(storage)
  }
  const vms = await host.store.list(storages)
  const running = vms.filter(({ path }) => wasRunning(path))
  const isHalfTemplate = (await templatesIn(storages)).some(isHalfMade)
  const moved = vms.filter(({ settings }) => settings.movedFrom !== undefined || settings.movingTo !== undefined)
  const pooling = vms.filter(({ path }) => sizeOfPool(path) > 0)
  const isWork =
    pooling.length > 0 ||
    (await pooledForksIn(storages)).length > 0 ||
    running.length > 0 ||
    isHalfTemplate ||
    moved.length > 0 ||
    vms.some(({ storage }) => storage === ephemeralStorage) ||
    (await host.store.hasRemains(storages))
  return isWork ? { storages, running, moved, pooling, ephemeralStorage } : undefined
}

/** Takes charge where there is something to take up. */
const recoverWhatIsLeft = async (host: Open): Promise<void> => {
  if ((await leftIn(host)) === undefined) return
  await host.lockHome().catch((error) => {
    host.log.write('error', 'already_running', { message: (error as Error).message })
  })
}

/**
 * Finds the VMs that run, and removes what is half made; one that cannot be read keeps no other from being found. The bases
 * that nobody needs are removed afterwards.
 */
const recover = async (host: Open): Promise<{ collecting?: Promise<unknown> }> => {
  const tell = (name: string) => (error: unknown) =>
    host.log.write('error', 'not_taken_up', { vm: name, message: (error as Error).message })
  const left = await leftIn(host).catch(tell('-'))
  if (left === undefined) return {}
  const { storages, running, moved, pooling, ephemeralStorage } = left
  const settle = async (vm: StoredVm) => {
    using lock = host.locks.tryTake(vmPath(vm.path, 'work'))
    if (lock !== undefined) await finishInterruptedMove(host.store, vm)
  }
  await Promise.all(running.map((vm) => adoptIfFree(host, vm).catch(tell(vm.name))))
  for (const vm of moved) {
    await settle(vm).catch(tell(vm.name))
  }
  await removeEphemeral(host, ephemeralStorage)
  await sweepTemplates(host, storages).catch(tell('-'))
  await sweepPools(host, storages).catch(tell('-'))
  await host.store.sweep(storages).catch(tell('-'))
  for (const vm of [...pooling, ...moved]) host.pools.keep(vm, sizeOfPool(vm.path))
  return { collecting: Promise.all(storages.map((storage) => collectBases(host, storage))) }
}

/** Nobody who made a VM that is not to last is there any more to start it: what does not run goes. */
const removeEphemeral = async ({ store, machines, locks, log }: Open, ephemeralStorage: Storage): Promise<void> => {
  const isLeft = (vm: StoredVm) => machines.status(vm) === 'stopped' && vm.settings.movingTo === undefined
  for (const vm of await store.list([ephemeralStorage]).catch(() => [])) {
    try {
      using lock = locks.tryTake(vmPath(vm.path, 'work'))
      if (lock === undefined || !isLeft(vm)) continue
      await store.remove(vm)
      log.write('info', 'deleted', { vm: vm.name, because: ephemeral })
    } catch (error) {
      log.write('error', 'not_taken_up', { vm: vm.name, message: (error as Error).message })
    }
  }
}
