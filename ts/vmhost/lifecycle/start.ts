/** Starts a VM as an operation. */
import { finishIdentity } from '../forks/wake.ts'
import type { Host } from '../host/host.ts'
import type { StartedTask } from '../host/operations.ts'
import type { RunOptions } from '../hypervisors/hypervisor.ts'
import type { StoredVm } from '../vms/vm-store.ts'
import { exclusively, reread } from './find.ts'
import { optionsFor } from './suspend.ts'

/** What helps where a VM that is to be started runs. */
export const stopFirstHint = 'Stop it first to start it anew.'

/** Begins to start a VM that was announced; `discardMemory`: anew, where it is suspended. */
export const beginRun = (host: Host, found: StoredVm, options: RunOptions, discardMemory = false): StartedTask<void> =>
  host.operations.begin('run', found, async (work) => {
    try {
      const start = async () => {
        const vm = await reread(host, found)
        if (host.machines.get(vm.path) !== undefined) host.machines.refuseRunning(vm, stopFirstHint)
        work.step('starting the hypervisor')
        const wanted = await optionsFor(host, vm, options, discardMemory)
        using image = wanted.saved && (await host.images.find(vm))
        const machine = await host.machines.start(vm, { ...wanted, image }, work)
        if (wanted.saved !== undefined) await finishIdentity(host, vm, machine, work)
      }
      await exclusively(host, found, start, work.signal)
    } finally {
      host.machines.giveUp(found)
    }
  })
