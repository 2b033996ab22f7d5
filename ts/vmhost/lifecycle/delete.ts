/** Deletes a VM, a damaged one too. */
import type { Handlers } from '../host.ts'
import { isDamaged } from '../vm-store.ts'
import { collectBases } from './collect.ts'
import { alone, findVm } from './find.ts'

export const deleteVm: Handlers['deleteVm'] = async ({ name, storage }, host) => {
  const found = await host.store.look(name, storage)
  const isUnreadable = found !== undefined && isDamaged(found)
  const vm = isUnreadable ? found : await findVm(host, name, storage)
  await alone(host, vm, async () => {
    host.machines.refuseRunning(
      vm,
      isUnreadable && host.machines.get(vm.path) === undefined
        ? 'Its files are damaged: mend them to stop it, or end the process that "hypervisor.pid" in its folder names.'
        : 'Stop it first to delete it.',
    )
    if (!isUnreadable) await host.store.reread(vm)
    await host.store.remove(vm)
    host.events.emit({ type: 'vm', name, location: vm.storage.name, status: null })
  })
  await collectBases(host, vm.storage)
  host.log.write('info', 'deleted', { vm: name })
  return { message: `Virtual machine deleted: ${name}` }
}
