/** Saves a VM with its memory, and lets it go on. */
import { Failure } from '@backlot/contract/failure'
import { finishIdentity } from '../forks/wake.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { RunOptions } from '../hypervisors/hypervisor.ts'
import { isSaved, readSaved, removeSavedMemory } from '../snapshots/saved-state.ts'
import { writeVmSettings } from '../vms/vm-settings.ts'
import type { StoredVm } from '../vms/vm-store.ts'
import { exclusively, findVm, refuseElsewhere, reread } from './find.ts'

const stopFirst = 'Stop it first to start it anew.'
const resumeFirst = 'Resume it first, or run it with `discardMemory`.'

export const suspendVm: Handlers['suspendVm'] = async ({ name, storage }, host) => {
  const vm = await findVm(host, name, storage)
  host.machines.refuseSuspended(vm, 'Its memory is saved; resume it to let it go on.')
  const refuseStopped = () => {
    if (host.machines.status(vm) !== 'stopped') return
    throw new Failure('vm_not_running', `"${name}" does not run; start it first.`, { name })
  }
  refuseStopped()
  await host.lockHome()
  refuseElsewhere(host, vm)
  const { done } = host.operations.begin('suspend', vm, (work) => {
    const suspend = async () => {
      host.machines.refuseSuspended(vm, 'Its memory is saved; resume it to let it go on.')
      const machine = host.machines.get(vm.path)
      if (machine === undefined) refuseStopped()
      else await machine.suspend(work)
    }
    return exclusively(host, vm, suspend, work.signal)
  })
  await done
  return { message: `Virtual machine suspended: ${name}` }
}

export const resumeVm: Handlers['resumeVm'] = async ({ name, storage }, host) => {
  const found = await findVm(host, name, storage)
  const refuseOthers = () => {
    host.machines.refuseRunning(found, 'It needs no resuming.')
    if (isSaved(found.path)) return
    throw new Failure('vm_not_suspended', `Virtual machine is not suspended: "${name}". Run it to start it.`, { name })
  }
  refuseOthers()
  await host.lockHome()
  refuseOthers()
  host.machines.announce(found)
  const { done } = host.operations.begin('resume', found, async (work) => {
    try {
      const resume = async () => {
        const vm = await reread(host, found)
        if (host.machines.get(vm.path) !== undefined) host.machines.refuseRunning(vm, 'It needs no resuming.')
        const saved = await readSaved(vm.path)
        if (saved === undefined) throw new Failure('vm_not_suspended', `"${name}" is not suspended any more.`, { name })
        work.step('reading the memory')
        const { hasDisplay, sharedDirectories } = saved
        using image = await host.images.find(vm)
        const options = { hasDisplay, sharedDirectories: sharedDirectories ?? [], saved, image }
        await finishIdentity(host, vm, await host.machines.start(vm, options, work), work)
      }
      await exclusively(host, found, resume, work.signal)
    } finally {
      host.machines.giveUp(found)
    }
  })
  await done
  return { message: `Virtual machine resumed: ${name}` }
}

/**
 * How a VM that may be suspended is to be started: with its memory and the shared folders that the guest had then, or, with
 * `discardMemory`, without them. Throws `vm_suspended` where it is to get other folders, and `memory_unreadable`.
 */
export const optionsFor = async (
  host: Host,
  vm: StoredVm,
  options: RunOptions,
  discardMemory: boolean,
): Promise<RunOptions> => {
  if (!isSaved(vm.path)) return options
  if (discardMemory) {
    await removeSavedMemory(vm.path)
    await bootsAsItself(vm)
    host.log.write('info', 'memory_discarded', { vm: vm.name })
    return options
  }
  const saved = await readSaved(vm.path)
  if (options.sharedDirectories.length > 0 && !isSame(options.sharedDirectories, saved?.sharedDirectories ?? [])) {
    throw new Failure(
      'vm_suspended',
      `Virtual machine is suspended: "${vm.name}". It goes on with the shared folders that it had. ${resumeFirst} ${stopFirst}`,
      { name: vm.name },
    )
  }
  return { hasDisplay: options.hasDisplay, sharedDirectories: saved?.sharedDirectories ?? [], saved }
}

/**
 * A fork that never went on boots with a MAC address of its own, and the disk and the seed that a clone would have: nothing of it
 * is left to be settled when it is resumed once.
 */
const bootsAsItself = async ({ path, settings }: StoredVm): Promise<void> => {
  if (settings.guestMacAddress === undefined) return
  const { guestMacAddress: _, identity: __, ...own } = settings
  await writeVmSettings(path, own)
}

const isSame = (one: RunOptions['sharedDirectories'], other: RunOptions['sharedDirectories']): boolean =>
  JSON.stringify(one.map(wordsOf)) === JSON.stringify(other.map(wordsOf))

const wordsOf = ({ hostPath, tag, readOnly }: RunOptions['sharedDirectories'][number]) => [hostPath, tag, readOnly]
