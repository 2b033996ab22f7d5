/** Deletes a VM, a damaged one too. */
import { refuseOpen } from '../disks/disk-in-use.ts'
import type { Handlers } from '../host/host.ts'
import { vmPath } from '../vms/vm-directory.ts'
import { collectBases } from './collect.ts'
import { exclusively, findAnyVm } from './find.ts'

export const deleteVm: Handlers['deleteVm'] = async ({ name, storage }, host) => {
  const { vm, isReadable } = await findAnyVm(host, name, storage)
  const remove = async () => {
    host.machines.refuseRunning(vm, 'Stop it first to delete it.')
    if (isReadable) await host.store.reread(vm)
    await refuseOpen(vmPath(vm.path, 'disk'))
    const left = await host.store.remove(vm)
    host.events.emit({ type: 'vm', name, location: vm.storage.name, status: null })
    return left
  }
  const left = await exclusively(host, vm, remove)
  await collectBases(host, vm.storage)
  host.log.write('info', 'deleted', { vm: name, ...(left !== undefined && { left }) })
  const kept = left === undefined ? '' : `; files in its folder that are not of a VM are in "${left}" now`
  return { message: `Virtual machine deleted: ${name}${kept}` }
}
