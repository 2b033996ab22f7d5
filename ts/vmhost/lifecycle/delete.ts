/** Deletes a VM, a damaged one too. */
import type { Handlers } from '../host.ts'
import { isDamaged } from '../vm-store.ts'
import { collectBases } from './collect.ts'
import { alone, findVm } from './find.ts'

export const deleteVm: Handlers['deleteVm'] = async ({ name, storage }, host) => {
  const found = await host.store.look(name, storage)
  const isUnreadable = found !== undefined && isDamaged(found)
  const vm = isUnreadable ? found : await findVm(host, name, storage)
  const left = await alone(host, vm, async () => {
    host.machines.refuseRunning(
      vm,
      isUnreadable && host.machines.get(vm.path) === undefined
        ? 'Its files are damaged: mend them to stop it, or end the process that "hypervisor.pid" in its folder names.'
        : 'Stop it first to delete it.',
    )
    if (!isUnreadable) await host.store.reread(vm)
    const left = await host.store.remove(vm)
    host.events.emit({ type: 'vm', name, location: vm.storage.name, status: null })
    return left
  })
  await collectBases(host, vm.storage)
  host.log.write('info', 'deleted', { vm: name, ...(left !== undefined && { left }) })
  const kept = left === undefined ? '' : `; files in its folder that are not of a VM are in "${left}" now`
  return { message: `Virtual machine deleted: ${name}${kept}` }
}
