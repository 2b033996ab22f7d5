/** Puts a host together from its places, and takes up what a service before this one has left. */
import { mkdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { eventsKept, hostLogBytes, longestSocketPath } from '@backlot/contract/limits'
import type { Places } from '@backlot/contract/places'
import { core, type FileLock } from './core.ts'
import { Bases } from './disks/bases.ts'
import { Events } from './events.ts'
import { fileFailure } from './file-failure.ts'
import type { Host } from './host.ts'
import type { Accelerator } from './hypervisors/qemu/arguments.ts'
import { qemu } from './hypervisors/qemu/start.ts'
import { collectBases } from './lifecycle/collect.ts'
import { Listing } from './listing.ts'
import { LogFile } from './log-file.ts'
import { Machines } from './machines.ts'
import { settleMove } from './move.ts'
import { Operations } from './operations.ts'
import { settingsAt } from './settings.ts'
import { ephemeral, type Storage, searched, storageOf } from './storage.ts'
import { Turns } from './turns.ts'
import { wasRunning } from './vm-directory.ts'
import { VmStore } from './vm-store.ts'

/** A host, without what depends on the address of its service. */
export type OpenHost = Omit<Host, 'newLink'> & AsyncDisposable

/** Milliseconds that a service which ends waits for what it has cancelled; the next one removes the rest. */
const endsWithinMs = 5_000

/** Length of the longest name of a control socket. */
const socketName = '/0123456789abcdef.agent'.length

/**
 * The host whose files stand in `places`. Disposing of it cancels what is under way and lets go of the VMs, which run on.
 * Throws `config_unreadable`, and `invalid_environment` where its folder of sockets has too long a path.
 */
export const openHost = async (
  places: Places,
  accelerator: () => Promise<Accelerator>,
  stopGraceMs: number,
): Promise<OpenHost> => {
  const runtime = join(places.runtime, 'vm')
  if (Buffer.byteLength(runtime) + socketName > longestSocketPath) {
    throw new Failure(
      'invalid_environment',
      `The folder "${runtime}" has too long a path for sockets, which have ${longestSocketPath} bytes at most; ` +
        'set XDG_RUNTIME_DIR to a short one.',
      { path: runtime },
    )
  }
  const settings = settingsAt(places)
  await settings.read()
  const log = new LogFile(join(places.state, 'vmhost.log'), hostLogBytes, lock)
  const events = new Events(Date.now().toString(36), eventsKept)
  const turns = new Turns()
  const damage = new Set<string>()
  const host: Omit<OpenHost, typeof Symbol.asyncDispose> = {
    settings,
    store: new VmStore(settings, places.data, lock, ({ code, message }) => {
      // The same folders are looked at many times.
      if (damage.has(message)) return
      damage.add(message)
      log.write('error', code, { message })
    }),
    machines: new Machines(qemu({ runtime, accelerator, lock }), events, log),
    creations: new Map(),
    operations: new Operations(events, ({ id, kind, name, state, cause }) =>
      log.write(state === 'failed' ? 'error' : 'info', kind, { id, vm: name, state, ...(cause && { cause }) }),
    ),
    events,
    listing: new Listing(),
    bases: new Bases(turns),
    turns,
    log,
    stopGraceMs,
    takeCharge: () => {
      charge ??= takeHome(places)
    },
  }
  let charge: FileLock | undefined
  await takeUp(host)
  return {
    ...host,
    async [Symbol.asyncDispose]() {
      await host.operations.cancelAll(endsWithinMs)
      host.machines.release()
      charge?.release()
    },
  }
}

/** Takes the lock on a file; undefined where a living process holds it. */
const lock = (path: string): FileLock | undefined => core().FileLock.take(path) ?? undefined

/** Takes the lock that lies with the VMs: services of other login sessions, or that come by another path, see the same. */
const takeHome = ({ data }: Places): FileLock => {
  const path = join(data, 'vmhost.lock')
  let taken: FileLock | undefined
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    taken = lock(path)
  } catch (error) {
    const told = fileFailure(error, data)
    if (told instanceof Failure) throw told
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

/** Finds the VMs that run, and removes what is half made; one that cannot be read keeps no other from being found. */
const takeUp = async (host: Omit<Host, 'newLink'>): Promise<void> => {
  const settings = await host.settings.read()
  const storages: Storage[] = []
  const brief = storageOf(settings, host.store.data, ephemeral)
  for (const storage of [...searched(settings), brief]) {
    // Whoever asks for one that cannot be read is told why.
    if ((await readdir(storage.path).catch(() => undefined)) !== undefined) storages.push(storage)
  }
  const vms = await host.store.list(storages)
  const running = vms.filter(({ path }) => wasRunning(path))
  const moved = vms.filter(({ settings }) => settings.movedFrom !== undefined || settings.movingTo !== undefined)
  const isWork =
    running.length > 0 ||
    moved.length > 0 ||
    vms.some(({ storage }) => storage === brief) ||
    (await host.store.hasRemains(storages))
  if (!isWork) return
  try {
    host.takeCharge()
  } catch (error) {
    host.log.write('error', 'already_running', { message: (error as Error).message })
    return
  }
  const tell = (name: string) => (error: unknown) =>
    host.log.write('error', 'not_taken_up', { vm: name, message: (error as Error).message })
  await Promise.all(running.map((vm) => host.machines.adopt(vm).catch(tell(vm.name))))
  for (const vm of moved) {
    await settleMove(host.store, vm).catch(tell(vm.name))
  }
  await removeEphemeral(host, brief)
  await host.store.sweep(storages).catch(tell('-'))
  for (const storage of storages) await collectBases(host, storage)
}

/** Nobody who made a VM that is not to last is there any more to start it: what does not run goes. */
const removeEphemeral = async ({ store, machines, log }: Omit<Host, 'newLink'>, brief: Storage): Promise<void> => {
  const left = (await store.list([brief]).catch(() => [])).filter(
    (vm) => machines.status(vm) === 'stopped' && vm.settings.movingTo === undefined,
  )
  for (const vm of left) {
    try {
      await store.remove(vm)
      log.write('info', 'deleted', { vm: vm.name, because: ephemeral })
    } catch (error) {
      log.write('error', 'not_taken_up', { vm: vm.name, message: (error as Error).message })
    }
  }
}
