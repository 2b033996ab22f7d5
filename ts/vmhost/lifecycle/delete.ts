/** Deletes a VM. */
import type { Handlers } from '../host.ts'
import { collectBases } from './collect.ts'
import { alone, findVm } from './find.ts'

export const deleteVm: Handlers['deleteVm'] = async ({ name, storage }, host) => {
  const vm = await findVm(host, name, storage)
  await alone(host, vm, async () => {
    host.machines.refuseRunning(vm, 'Stop it first to delete it.')
    await host.store.remove(await host.store.reread(vm))
    host.events.emit({ type: 'vm', name, location: vm.storage.name, status: null })
  })
  await collectBases(host, vm.storage)
  host.log.write('info', 'deleted', { vm: name })
  return { message: `Virtual machine deleted: ${name}` }
}
