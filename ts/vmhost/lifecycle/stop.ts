/** Stops a VM: asks first, ends it when it does not listen; a client waits less than 20 seconds, and for no other work. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers, Host } from '../host/host.ts'
import type { Machine } from '../hypervisors/hypervisor.ts'
import { vmPath } from '../vms/vm-directory.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { findAnyVm, ownedByOtherService, refuseElsewhere } from './find.ts'

/** Milliseconds that a guest has to shut down, a process to end, and all of it, what went before among it. */
interface StopTimeouts {
  readonly guestMs: number
  /** After which a guest is asked once more: one that is coming up hears nothing at first. */
  readonly askAgainMs: number
  readonly processMs: number
  readonly inAllMs: number
}

/** With so many milliseconds for the guest; beside those, others may need theirs before it, and the process after it. */
const patienceOf = (guestMs: number): StopTimeouts => ({
  guestMs,
  askAgainMs: 3_000,
  processMs: 4_000,
  inAllMs: guestMs + 8_000,
})

const isSuspendedNext = 'It has no process; resume it, or run it with `discardMemory` to boot it anew.'

export const stopVm: Handlers['stopVm'] = async ({ name, storage, graceSeconds }, host) => {
  const began = performance.now()
  const { vm } = await findAnyVm(host, name, storage)
  if (host.machines.status(vm) === 'stopped') throw notRunning(name)
  host.machines.refuseSuspended(vm, isSuspendedNext)
  await host.lockHome()
  refuseElsewhere(host, vm)
  const patience = patienceOf(graceSeconds === undefined ? host.stopGraceMs : graceSeconds * 1_000)
  const { done } = host.operations.begin('stop', vm, async (work) => {
    const wasStarting = await interrupt(host, vm, began + patience.inAllMs)
    const machine = host.machines.get(vm.path)
    if (machine === undefined) return stopUnknown(host, vm, wasStarting)
    work.step('waiting for the guest')
    return stop(machine, began, patience)
  })
  const method = await done
  return { message: `Virtual machine stopped: ${name}`, method }
}

/**
 * Cancels a start of the VM, or a change of it while it runs, and waits for the outcome: a change that has saved its memory lets
 * it go on before it ends. Says whether there was a start.
 */
const interrupt = async ({ machines, operations, turns }: Host, vm: VmPlace, deadline: number): Promise<boolean> => {
  const wasStarting = machines.isStarting(vm)
  const started = wasStarting ? operations.interrupt(vm.path, ['run', 'resume']) : undefined
  const changed = operations.interrupt(vm.path, ['set', 'suspend', 'snapshot', 'fork'])
  // The forks of one that is free again are woken before their operation ends.
  const isFree = turns.take(vm.path, async () => undefined)
  await within(Promise.all([started, Promise.race([changed, isFree])]), deadline - performance.now())
  return wasStarting
}

/** Stops a VM whose machine this service does not know: its start was cancelled, or nothing tells how it was started. */
const stopUnknown = async (host: Host, vm: VmPlace, wasStarting: boolean): Promise<'forced'> => {
  const { machines } = host
  if (['stopped', 'suspended'].includes(machines.status(vm))) {
    if (wasStarting) return 'forced'
    machines.refuseSuspended(vm, isSuspendedNext)
    // It shut down by itself in the meantime.
    throw notRunning(vm.name)
  }
  using lock = host.locks.tryTake(vmPath(vm.path, 'work'))
  if (lock === undefined) throw ownedByOtherService(vm)
  await machines.end(vm)
  return 'forced'
}

/**
 * Brings the machine to its end, and says how; throws `vm_not_stopped`. Who asked for it at `began`, a time of
 * `performance.now()`, may have waited until others were done with it: the guest has the less.
 */
export const stop = async (
  machine: Machine,
  began: number,
  patience: StopTimeouts,
): Promise<'agent' | 'acpi' | 'forced'> => {
  const leftMs = () => began + patience.inAllMs - patience.processMs - performance.now()
  const ask = () => within(machine.askToShutDown(), leftMs())
  let asked = await ask()
  const deadline = performance.now() + Math.min(patience.guestMs, leftMs())
  while (asked !== undefined) {
    const remainingMs = deadline - performance.now()
    if (await endsWithin(machine, Math.min(patience.askAgainMs, remainingMs))) return asked
    if (remainingMs <= patience.askAgainMs) break
    asked = (await ask()) ?? asked
  }
  const killed = machine.kill()
  killed.catch(() => undefined)
  if (await endsWithin(machine, patience.processMs)) return 'forced'
  const { name } = machine.place
  throw new Failure(
    'vm_not_stopped',
    `The hypervisor of "${name}" (process ${machine.pid}) does not end, not even when killed; it may wait for a disk.`,
    { name, pid: machine.pid },
  )
}

const notRunning = (name: string): Failure =>
  new Failure('vm_not_running', `Virtual machine is not running: "${name}". Start it before you stop it.`, { name })

const endsWithin = async (machine: Machine, ms: number): Promise<boolean> =>
  (await within(
    machine.ended.then(() => true),
    ms,
  )) ?? false

/** What comes of it in that time; undefined where nothing does. */
const within = async <T>(work: Promise<T>, ms: number): Promise<T | undefined> => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), Math.max(0, ms))
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
